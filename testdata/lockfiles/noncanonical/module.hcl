# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

# A block of a later version.
module "x" {} # expect: lock-modules
