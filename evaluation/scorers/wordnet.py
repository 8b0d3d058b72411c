"""WordNet 3.0 as Debian installs it, for METEOR's synonyms.

NLTK cannot download its own copy everywhere. Debian's wordnet-base has the same files but for two: `lexnames`, whose 45
names stand in its manual page and below, and `index.sense`, which only look-ups by sense key read.
"""

from functools import cache, lru_cache
from pathlib import Path
from typing import Any

FOLDER = Path("/usr/share/wordnet")
# A child process reads all of it first, which takes as long as scoring some ten thousand pairs.
PAYS_FROM = 40_000
_FILES = [f"{kind}.{part}" for kind in ("data", "index") for part in ("adj", "adv", "noun", "verb")]
_FILES += [f"{part}.exc" for part in ("adj", "adv", "noun", "verb")]
_PARTS = {"noun": 1, "verb": 2, "adj": 3, "adv": 4}
_LEXNAMES = (
    "adj.all adj.pert adv.all noun.Tops noun.act noun.animal noun.artifact noun.attribute noun.body noun.cognition "
    "noun.communication noun.event noun.feeling noun.food noun.group noun.location noun.motive noun.object noun.person "
    "noun.phenomenon noun.plant noun.possession noun.process noun.quantity noun.relation noun.shape noun.state "
    "noun.substance noun.time verb.body verb.change verb.cognition verb.communication verb.competition "
    "verb.consumption verb.contact verb.creation verb.emotion verb.motion verb.perception verb.possession verb.social "
    "verb.stative verb.weather adj.ppl"
)


def missing_wordnet() -> str:
    """What is missing for METEOR with synonyms, "" if nothing is."""
    if all((FOLDER / name).is_file() for name in _FILES):
        return ""
    return "WordNet is not installed (apt install wordnet-base)."


class Synonyms:
    """What METEOR asks of WordNet, each word once: the reader searches its files for every question."""

    def __init__(self, reader: Any) -> None:
        self.synsets = lru_cache(maxsize=50_000)(reader.synsets)


@cache
def wordnet() -> Synonyms:
    """WordNet, read on the first call, which takes seconds and some 100 MB. Call it where missing_wordnet() is ""."""
    import io
    import warnings

    import nltk.data
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    lexnames = "".join(
        f"{i:02}\t{name}\t{_PARTS[name.partition('.')[0]]}\n" for i, name in enumerate(_LEXNAMES.split())
    )

    class DebianWordNet(WordNetCorpusReader):  # type: ignore[misc]
        def open(self, file: str) -> Any:
            return io.StringIO(lexnames) if file == "lexnames" else super().open(file)

        def map_wn(self, version: str = "wordnet") -> None:
            """No map between versions: it serves other languages' WordNets and would read `index.sense`."""

    if str(FOLDER) not in nltk.data.path:
        # NLTK opens no file outside its own folders unless they are named to it.
        nltk.data.path.append(str(FOLDER))
    with warnings.catch_warnings():
        # "The multilingual functions are not available": nobody asks for them.
        warnings.simplefilter("ignore")
        return Synonyms(DebianWordNet(str(FOLDER), None))
