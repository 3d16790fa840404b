"""Writes the sample that holds the Rust tokeniser to the reference one.

usage: golden.py MODEL.mgm tests/data/static-pieces.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from mgm import Model
from tokenise import Tokeniser

TEXTS = (
    "",
    "router: VLAN 10, DNS 192.168.10.2",
    "The Quick brown fox jumps over 13 lazy dogs.",
    "memorySearch.query.hybrid retry_index HTTPServer a828e60 OPS-43440",
    "Wann endet die Verjährungsfrist? Straße, Übergrößenträger, Donaudampfschifffahrtsgesellschaft",
    "L’été à Noël, cœur; ¿dónde está el niño? São Paulo",
    "谁负责数据库备份？备份任务由李雷每周执行。",
    "東京タワーの高さは333メートルです。々〆ヽ ﾌﾟﾘﾝﾀｰ",
    "데이터베이스 백업은 어떻게 하나요?",
    "Где находится принтер? Москва",
    "ＦＵＬＬ　ｗｉｄｔｈ ① ㈱ ½ ﬁle",
    "U\u0308ber decomposed e\u0301te\u0301, \u0301 alone",
    "İstanbul ΣΑΣ ǅ ß ẞ",
    "中文和English混排2026年",
    "emoji 🦀 👩‍💻 and \u200bzero width\u00a0space",
    "हिन्दी भाषा ภาษาไทย עברית العربية",
    "x" * 300,
    "深" * 200,
    "# Heading\n\n- item `code` <!-- trigger: a, b -->\n| a | b |\n",
    "dGhpcyBpcyBiYXNlNjQgdGV4dCB0aGF0IG5vYm9keSByZWFkcw== 0xDEADBEEF",
    "don't it's l'homme O'Brien",
    "1,000.50 € 25% v2.10.3 ٣٤٥ Ⅷ",
)


def main() -> None:
    """Cut every text and write the rows."""
    path, target = map(Path, sys.argv[1:])
    model = Model(path)
    tokeniser = Tokeniser(model.pieces, model.costs.tolist())
    sample = [{"text": text, "rows": tokeniser.rows(text)} for text in TEXTS]
    lines = ",\n".join(json.dumps(entry, ensure_ascii=True) for entry in sample)
    target.write_text(f'{{"model": {json.dumps(model.name)}, "texts": [\n{lines}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
