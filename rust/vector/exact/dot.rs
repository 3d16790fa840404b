//! Dot products of int8 codes, as fast as the processor can.
//!
//! All kernels give the same integers; which one runs is decided by the processor, not by the build.

/// Codes are whole multiples of this many bytes.
pub(super) const REGISTER: usize = 32;

/// A way to compute dot products.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kernel {
    /// Plain Rust. Where vector instructions are part of the base (NEON on aarch64) the compiler uses them here.
    Scalar,
    /// 32 codes at a time.
    #[cfg(target_arch = "x86_64")]
    Avx2,
}

impl Kernel {
    pub fn fastest() -> Self {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            return Self::Avx2;
        }
        Self::Scalar
    }

    /// `dots[i] = query · codes[i]`; codes are signed bytes from -127 to 127, `query.len()` of them for each dot.
    pub fn run(self, query: &[u8], codes: &[u8], dots: &mut [i32]) {
        assert!(query.len().is_multiple_of(REGISTER) && codes.len() == query.len() * dots.len());
        match self {
            Self::Scalar => scalar(query, codes, dots),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => {
                #[allow(unsafe_code, reason = "calling a function made for a processor feature")]
                // SAFETY: only `fastest` makes this variant, after the processor said that it has AVX2.
                unsafe {
                    avx2::dots(query, codes, dots);
                }
            }
        }
    }
}

fn scalar(query: &[u8], codes: &[u8], dots: &mut [i32]) {
    for (code, dot) in codes.chunks_exact(query.len()).zip(dots) {
        *dot =
            code.iter().zip(query).map(|(&a, &b)| i32::from(i16::from(a as i8) * i16::from(b as i8))).sum();
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::REGISTER;
    use std::arch::x86_64::*;

    /// Four codes at a time share the loads of the query and the adding up at the end.
    #[target_feature(enable = "avx2")]
    pub(super) fn dots(query: &[u8], codes: &[u8], dots: &mut [i32]) {
        let stride = query.len();
        let (query, _) = query.as_chunks::<REGISTER>();
        let (fours, rest) = dots.as_chunks_mut::<4>();
        let (four_codes, rest_codes) = codes.split_at(4 * fours.len() * stride);
        for (codes, dots) in four_codes.chunks_exact(4 * stride).zip(fours) {
            let (ab, cd) = codes.split_at(2 * stride);
            let ((a, b), (c, d)) = (ab.split_at(stride), cd.split_at(stride));
            *dots = four(query, a, b, c, d);
        }
        for (code, dot) in rest_codes.chunks_exact(stride).zip(rest) {
            *dot = four(query, code, code, code, code)[0];
        }
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn four(query: &[[u8; REGISTER]], a: &[u8], b: &[u8], c: &[u8], d: &[u8]) -> [i32; 4] {
        let mut sums = [_mm256_setzero_si256(); 4];
        let (a, b) = (a.as_chunks::<REGISTER>().0, b.as_chunks::<REGISTER>().0);
        let (c, d) = (c.as_chunks::<REGISTER>().0, d.as_chunks::<REGISTER>().0);
        for ((((query, a), b), c), d) in query.iter().zip(a).zip(b).zip(c).zip(d) {
            let query = load(query);
            let size = _mm256_abs_epi8(query);
            for (sum, code) in sums.iter_mut().zip([a, b, c, d]) {
                // The instruction multiplies unsigned by signed bytes, so the sign of the query moves over to the code.
                let signed = _mm256_sign_epi8(load(code), query);
                // Two products are at most 2 * 127 * 127 and fit into 16 bits.
                let pairs = _mm256_maddubs_epi16(size, signed);
                *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
            }
        }
        totals(sums)
    }

    /// The sum of each register's eight numbers.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn totals([a, b, c, d]: [__m256i; 4]) -> [i32; 4] {
        let halves = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
        let sums = _mm_add_epi32(_mm256_castsi256_si128(halves), _mm256_extracti128_si256::<1>(halves));
        [
            _mm_extract_epi32::<0>(sums),
            _mm_extract_epi32::<1>(sums),
            _mm_extract_epi32::<2>(sums),
            _mm_extract_epi32::<3>(sums),
        ]
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn load(bytes: &[u8; REGISTER]) -> __m256i {
        #[allow(unsafe_code, reason = "a load through a pointer")]
        // SAFETY: the reference is valid for 32 bytes, and this load asks for no alignment.
        unsafe {
            _mm256_loadu_si256(bytes.as_ptr().cast())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every kernel this processor can run.
    fn kernels() -> Vec<Kernel> {
        let mut kernels = vec![Kernel::Scalar, Kernel::fastest()];
        kernels.dedup();
        kernels
    }

    fn reference(query: &[i8], codes: &[i8]) -> Vec<i32> {
        let dot = |code: &[i8]| code.iter().zip(query).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum();
        codes.chunks(query.len()).map(dot).collect()
    }

    fn bytes(codes: &[i8]) -> Vec<u8> {
        codes.iter().map(|&code| code as u8).collect()
    }

    #[test]
    fn extreme_codes_do_not_overflow() {
        for (a, b) in [(127, 127), (-127, 127), (127, -127), (-127, -127)] {
            for kernel in kernels() {
                let mut dots = [0; 5];
                kernel.run(&bytes(&[a; 4096]), &bytes(&[b; 4096 * 5]), &mut dots);
                assert_eq!(dots, [i32::from(a) * i32::from(b) * 4096; 5], "{kernel:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn all_kernels_give_the_same_integers(
            (query, codes) in (1usize..5, 0usize..11).prop_flat_map(|(registers, rows)| (
                prop::collection::vec(-127i8..=127, registers * REGISTER),
                prop::collection::vec(-127i8..=127, registers * REGISTER * rows),
            ))
        ) {
            let expected = reference(&query, &codes);
            for kernel in kernels() {
                let mut dots = vec![0; expected.len()];
                kernel.run(&bytes(&query), &bytes(&codes), &mut dots);
                prop_assert_eq!(&dots, &expected, "{:?}", kernel);
            }
        }
    }
}
