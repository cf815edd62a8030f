# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel of the CUDA kernels: `make cuda-wheel`.

The compiler comes from wheels, in the environment that runs this script (`requirements.txt`), so
no CUDA toolkit needs to be installed, and no GPU. Objects are kept in the build folder, and those
whose sources have not changed are not compiled again.
"""

import argparse
import base64
import hashlib
import importlib.util
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KERNELS = ROOT / "primitives/kernels"
PACKAGE = "jaxframes_cuda13"
LIBRARY_NAME = "libjaxframes_cuda_kernels.so"
# Machine code for A100, H100, B200 and RTX 50, and PTX for what comes after them.
ARCHITECTURES = ("80", "90", "100", "120")
MOST_BYTES = 30_000_000
WARNINGS = ("-Wall", "-Wextra")


def toolkit() -> Path:
    """The folder with the compiler's wheels, its programs executable."""
    folder = Path(sysconfig.get_path("purelib")) / "nvidia/cu13"
    if not (folder / "bin/nvcc").exists():
        sys.exit(f"There is no nvcc in {folder}. Install cuda/requirements.txt.")
    for program in (*folder.glob("bin/*"), *folder.glob("nvvm/bin/*")):
        if program.is_file():
            program.chmod(0o755)
    return folder


def xla_headers() -> Path:
    """The folder of XLA's FFI headers, without importing jaxlib."""
    spec = importlib.util.find_spec("jaxlib")
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0]) / "include"


def compile_command(source: Path, result: Path, architectures: tuple[str, ...]) -> list[str]:
    """The call that compiles one source: kernels by nvcc, handlers by the host's compiler."""
    cuda = toolkit()
    includes = [f"-I{KERNELS}", "-isystem", str(xla_headers())]
    if source.suffix == ".cc":
        options = ["-std=c++17", "-O2", "-fPIC", "-fvisibility=hidden", *WARNINGS]
        return ["g++", *options, *includes, "-isystem", str(cuda / "include"), "-c", str(source),
                "-o", str(result)]  # fmt: skip
    codes = [f"-gencode=arch=compute_{one},code=sm_{one}" for one in architectures]
    newest = architectures[-1]
    codes.append(f"-gencode=arch=compute_{newest},code=compute_{newest}")
    return [
        str(cuda / "bin/nvcc"), "-std=c++17", "-O3", "--extended-lambda", "-Xfatbin",
        "-compress-all", "-Xcompiler", ",".join(("-fPIC", "-fvisibility=hidden", "-Wall")),
        "--Werror=all-warnings", *codes, f"-I{cuda / 'include/cccl'}", *includes, "-c", str(source),
        "-o", str(result)]  # fmt: skip


def build_library(build: Path, architectures: tuple[str, ...]) -> Path:
    """Compiles what has changed, two sources at a time, and links."""
    build.mkdir(parents=True, exist_ok=True)
    sources = sorted(KERNELS.glob("*/cuda_*.cu")) + sorted(KERNELS.glob("*/cuda_*.cc"))
    headers = [*KERNELS.glob("*/*.h"), *KERNELS.glob("*/*.cuh")]
    newest_header = max(header.stat().st_mtime for header in headers)

    def compile_one(source: Path) -> Path:
        result = build / f"{source.parent.name}_{source.name}.o"
        changed = max(newest_header, source.stat().st_mtime)
        if not result.exists() or result.stat().st_mtime < changed:
            print(f"compiling {source.relative_to(ROOT)}", flush=True)
            subprocess.run(compile_command(source, result, architectures), check=True)
        return result

    with ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(compile_one, sources))
    library = build / LIBRARY_NAME
    cuda = toolkit()
    subprocess.run(
        [str(cuda / "bin/nvcc"), "-shared", "-cudart", "static", f"-L{cuda / 'lib'}", "-Xlinker",
         "--exclude-libs,ALL,-s",
         *map(str, objects), "-o", str(library)],
        check=True,
    )  # fmt: skip
    return library


def platform_of(library: Path) -> str:
    """The wheel's platform: the newest symbol of the C library that it needs."""
    symbols = subprocess.run(
        ["objdump", "-T", str(library)], check=True, capture_output=True, text=True
    ).stdout
    minor = max(int(version) for version in re.findall(r"GLIBC_2\.(\d+)", symbols))
    # The oldest platform that pip still knows is 2.17.
    return f"manylinux_2_{max(minor, 17)}_x86_64"


def version() -> str:
    """The version of jaxframes, which the kernels share."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def write_wheel(library: Path, folder: Path) -> Path:
    """Packs the library and its metadata."""
    name = f"{PACKAGE}-{version()}"
    tag = f"py3-none-{platform_of(library)}"
    metadata = [
        "Metadata-Version: 2.1",
        f"Name: {PACKAGE.replace('_', '-')}",
        f"Version: {version()}",
        "Summary: CUDA kernels of jaxframes, for JAX with CUDA 13",
        "License: Apache-2.0",
        "Requires-Python: >=3.11",
        "Description-Content-Type: text/markdown",
        "",
        (ROOT / "cuda/README.md").read_text(),
    ]
    wheel = ["Wheel-Version: 1.0", "Generator: jaxframes", "Root-Is-Purelib: false", f"Tag: {tag}"]
    files = {
        f"{PACKAGE}/__init__.py": (ROOT / "cuda" / PACKAGE / "__init__.py").read_bytes(),
        f"{PACKAGE}/{LIBRARY_NAME}": library.read_bytes(),
        f"{name}.dist-info/licenses/LICENSE": (ROOT / "LICENSE").read_bytes(),
        f"{name}.dist-info/METADATA": "\n".join(metadata).encode(),
        f"{name}.dist-info/WHEEL": "\n".join([*wheel, ""]).encode(),
    }
    record = [f"{path},sha256={_digest(content)},{len(content)}" for path, content in files.items()]
    record.append(f"{name}.dist-info/RECORD,,")
    files[f"{name}.dist-info/RECORD"] = "\n".join([*record, ""]).encode()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name_of_file, content in files.items():
            archive.writestr(name_of_file, content)
    if path.stat().st_size > MOST_BYTES:
        sys.exit(f"{path.name} has {path.stat().st_size:,} bytes, more than {MOST_BYTES:,}.")
    return path


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def main() -> None:
    """Builds the library, and the wheel unless only the library is wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=ROOT / "build/cuda/objects")
    parser.add_argument("--output", type=Path, default=ROOT / "dist")
    parser.add_argument("--architectures", nargs="+", default=ARCHITECTURES)
    parser.add_argument("--library", action="store_true", help="build no wheel")
    options = parser.parse_args()
    library = build_library(options.build, tuple(options.architectures))
    # The package as it will be installed, for whoever compiles programs with it here.
    site = options.build.parent / "site" / PACKAGE
    site.mkdir(parents=True, exist_ok=True)
    shutil.copy(library, site)
    shutil.copy(ROOT / "cuda" / PACKAGE / "__init__.py", site)
    if options.library:
        return
    path = write_wheel(library, options.output)
    print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
