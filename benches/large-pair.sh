#!/bin/sh
# Writes old.hcl and new.hcl with COUNT providers of 15 hashes each into DIR: a third upgraded, a third with replaced
# checksums, a third with other constraints only. Then, for the time of the whole process:
#
#   cargo build --release
#   benches/large-pair.sh /tmp/pair && hyperfine -N --warmup 5 'target/release/tflock diff /tmp/pair/old.hcl /tmp/pair/new.hcl'
set -eu
dir=${1:?usage: large-pair.sh DIR [COUNT]}
count=${2:-300}
mkdir -p "$dir"
for side in 0 1; do
    name=old
    if [ "$side" = 1 ]; then name=new; fi
    awk -v side="$side" -v count="$count" 'BEGIN {
        print "# This file is maintained automatically by \"terraform init\"."
        print "# Manual edits may be lost in future updates."
        for (n = 0; n < count; n++) {
            version = (n % 3 == 1) ? "1." side ".0" : "1.0.0"
            other = (n % 3 == 2) ? 0 : side
            printf "\nprovider \"registry.terraform.io/example-namespace/provider%03d\" {\n", n
            printf "  version     = \"%s\"\n  constraints = \"~> 1.%d\"\n  hashes = [\n", version, (n % 3 == 2) ? side : 0
            for (h = 0; h < 15; h++) printf "    \"zh:%020x%020x%024x\",\n", n, other, h
            print "  ]\n}"
        }
    }' >"$dir/$name.hcl"
done
