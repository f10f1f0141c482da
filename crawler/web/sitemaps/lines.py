"""Sitemaps that are plain lists: one absolute URL a line."""

from crawler.web.sitemaps.entries import MAX_VALUE_LENGTH, Broken, Draft, Editor, Kind, SitemapEntry


class LineReader:
    """Feed it text, take entries out of ``ready``, and ``close`` it at the end of the text."""

    kind: Kind | None = None  # "text" once a line was a URL
    finished = False

    def __init__(self, editor: Editor) -> None:
        self.ready: list[SitemapEntry] = []
        self._editor = editor
        self._begun = ""  # the last line, as far as it came

    def feed(self, text: str) -> None:
        """Reads on."""
        *lines, begun = (self._begun + text).replace("\r", "\n").split("\n")
        for line in lines:
            self._take(line)
        # A line that long is no URL, whatever follows; cut, it is still too long.
        self._begun = begun[: MAX_VALUE_LENGTH + 1]

    def close(self) -> None:
        """Tells that the text has ended; raises Broken when no line was a URL."""
        self._take(self._begun)
        if self.kind is None:
            raise Broken("neither XML nor a list of URLs")

    def salvage(self) -> None:
        """After a break: nothing to keep, for the last line may be half a URL."""

    def _take(self, line: str) -> None:
        draft = Draft()
        text = line.strip()
        if not text or text.startswith("#"):
            return
        if text.lower().startswith(("http://", "https://")) and len(text) <= MAX_VALUE_LENGTH and " " not in text:
            draft.loc = text  # Anything else is an entry without an address.
        entry = self._editor.entry(draft, is_sitemap=False)
        if entry:
            self.kind = "text"
            self.ready.append(entry)
