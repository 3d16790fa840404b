"""Known vulnerabilities of the locked packages and crates.

Both questions need something that is not always there: pip-audit a service, cargo-deny a tool that takes minutes to
compile. What cannot be asked is said and is no failure; what is found is one. Licences and sources of the crates need
neither and are checked by tests/test_dependencies.py.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 180


def python_packages() -> bool:
    """Asks pip-audit about requirements-dev.txt; true unless it knows of a vulnerability."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        command = [sys.executable, "-m", "pip_audit", "--disable-pip", "--require-hashes"]
        command += ["-r", str(ROOT / "requirements-dev.txt"), "--progress-spinner", "off"]
        command += ["--format", "json", "--output", str(report)]
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            print(f"audit: the vulnerability service did not answer within {SECONDS} s; packages NOT checked")
            return True
        if not report.exists() or not report.read_text():
            reason = run.stderr.strip().splitlines()[-1:] or ["no message"]
            print(f"audit: packages NOT checked: {reason[0]}")
            return True
        packages = json.loads(report.read_text())["dependencies"]
    # A service that knows nothing of a package counts as a pass for pip-audit; not for us.
    skipped = [package["name"] for package in packages if "skip_reason" in package]
    found = [package for package in packages if package.get("vulns")]
    print(f"audit: {len(packages) - len(skipped)} packages checked, {len(found)} with known vulnerabilities")
    if skipped:
        print(
            f"audit: {len(skipped)} packages NOT checked, the service did not know them: {', '.join(skipped)}"
        )
    for package in found:
        names = ", ".join(vulnerability["id"] for vulnerability in package["vulns"])
        print(f"audit: {package['name']} {package['version']}: {names}")
    return not found


def crates() -> bool:
    """Asks cargo-deny, where it is installed; true unless it refuses a crate."""
    if not shutil.which("cargo-deny"):
        print(
            "audit: cargo-deny is not installed (cargo install cargo-deny); advisories of crates NOT checked"
        )
        return True
    local = subprocess.run(["cargo", "deny", "check", "bans", "licenses", "sources"], cwd=ROOT, check=False)
    fetched = subprocess.run(["cargo", "deny", "fetch", "db"], cwd=ROOT, capture_output=True, check=False)
    if fetched.returncode != 0:
        print("audit: the advisory database cannot be fetched; advisories of crates NOT checked")
        return local.returncode == 0
    advisories = subprocess.run(["cargo", "deny", "check", "advisories"], cwd=ROOT, check=False)
    return local.returncode == 0 and advisories.returncode == 0


if __name__ == "__main__":
    sys.exit(0 if all([python_packages(), crates()]) else 1)
