# SPDX-License-Identifier: Apache-2.0
"""Screenshots of ten built pages in a headless browser, on a desktop and on a phone.

    python docs/look.py docs/_build/html build/look

Each page is drawn 1280 pixels wide, in light and in dark, and 400 pixels wide. The exit status is 1
if a page is wider than its window, or asks for anything from a network.
"""

import argparse
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAGES = (
    "index",
    "tutorials/a_query_on_a_file",
    "tutorials/a_jaxframe_from_pandas",
    "tutorials/tokenizer",
    "how-to/move_from_pandas",
    "how-to/use_threads_and_processes",
    "reference/local",
    "reference/pandas_coverage",
    "explanation/at_scale",
    "explanation/performance",
)
# Width, height and colours of each picture.
WINDOWS = {
    "desktop": (1280, 900, "light"),
    "desktop-dark": (1280, 900, "dark"),
    "phone": (400, 800, "light"),
}
# A page takes a tenth of a second. A machine with other work may take minutes to start a browser.
MOST_MILLISECONDS = 300_000
# A picture ends here, however long the page is.
MOST_PIXELS = 5000
SIZE_OF_PAGE = "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
NO_NETWORK = "--host-resolver-rules=MAP * ~NOTFOUND"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
NO_BROWSER = (
    "docs-look: a headless browser must be installed, found none of "
    f"{', '.join(BROWSERS)} on PATH. Run `apt-get install chromium`."
)


def faults_of(browser: Any, pages: Path, page: str, pictures: Path) -> Iterator[str]:
    """Draws a page in each window and yields its faults."""
    for window, (width, height, colours) in WINDOWS.items():
        view = browser.new_page(viewport={"width": width, "height": height}, color_scheme=colours)
        view.set_default_timeout(MOST_MILLISECONDS)
        requests: list[str] = []
        view.on("request", lambda request, requests=requests: requests.append(request.url))
        view.goto((pages / f"{page}.html").as_uri())
        drawn, length = view.evaluate(SIZE_OF_PAGE)
        view.screenshot(
            path=pictures / f"{page.replace('/', '-')}-{window}.png",
            full_page=True,
            clip={"x": 0, "y": 0, "width": width, "height": min(length, MOST_PIXELS)},
        )
        view.close()
        for url in requests:
            if not url.startswith(("file:", "data:")):
                yield f"{page}: asks for {url}"
        if drawn > width:
            yield f"{page}: is {drawn} pixels wide in a window of {width}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", type=Path, help="the folder of built pages")
    parser.add_argument("pictures", type=Path, help="where the screenshots are written")
    parser.add_argument("names", nargs="*", default=PAGES, help="pages, by default ten")
    arguments = parser.parse_args()
    absent = [name for name in arguments.names if not (arguments.pages / f"{name}.html").exists()]
    if absent:
        sys.exit(f"docs-look: {absent[0]}.html is not built. Run `make docs` first.")
    command = next(filter(None, map(shutil.which, BROWSERS)), None)
    if command is None:
        sys.exit(NO_BROWSER)

    from playwright.sync_api import sync_playwright

    arguments.pictures.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as player:
        # In a container there are no namespaces for a sandbox; the pages are our own.
        browser = player.chromium.launch(
            executable_path=command, args=["--no-sandbox", NO_NETWORK], timeout=MOST_MILLISECONDS
        )
        folder = arguments.pages.resolve()
        faults = [
            fault
            for name in arguments.names
            for fault in faults_of(browser, folder, name, arguments.pictures)
        ]
        browser.close()
    print(*faults, f"screenshots are in {arguments.pictures}", sep="\n")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
