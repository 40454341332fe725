from .app import (
    make_app as make_app,
)
from .guard import (
    Admission as Admission,
)
from .library import (
    LARGEST_MODEL as LARGEST_MODEL,
    LARGEST_TEXT as LARGEST_TEXT,
    Library as Library,
    ListedModel as ListedModel,
)
from .limits import (
    LARGEST_BODY as LARGEST_BODY,
    TEXTS as TEXTS,
    Share as Share,
)
from .serving import (
    Server as Server,
    prepare as prepare,
)
from .tiles import (
    tiles_of as tiles_of,
)
from .verdicts import (
    Inquiry as Inquiry,
    Verdicts as Verdicts,
)
from .visitors import (
    Classroom as Classroom,
    machine_addresses as machine_addresses,
    qr_lines as qr_lines,
)
