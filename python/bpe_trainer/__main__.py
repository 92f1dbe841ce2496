import sys

from ._executable import main

sys.exit(main())
