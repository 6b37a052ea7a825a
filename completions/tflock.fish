# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_tflock_global_optspecs
    string join \n C/chdir= tool= offline no-cache trust-file= format= report= color= q/quiet v/verbose h/help V/version
end

function __fish_tflock_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_tflock_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_tflock_using_subcommand
    set -l cmd (__fish_tflock_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c tflock -n "__fish_tflock_needs_command" -s C -l chdir -d 'Work in this root module as if started there; may be repeated' -r -f -a "(__fish_complete_directories)"
complete -c tflock -n "__fish_tflock_needs_command" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_needs_command" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_needs_command" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_needs_command" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_needs_command" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_needs_command" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_needs_command" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_needs_command" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_needs_command" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_needs_command" -s V -l version -d 'Print version'
complete -c tflock -n "__fish_tflock_needs_command" -f -a "lock" -d 'Make the lock file complete'
complete -c tflock -n "__fish_tflock_needs_command" -f -a "verify" -d 'Check the lock file: the gate for CI'
complete -c tflock -n "__fish_tflock_needs_command" -f -a "explain" -d 'Explain a rule, a hash or a provider'
complete -c tflock -n "__fish_tflock_needs_command" -f -a "providers" -d 'Terraform\'s name for lock'
complete -c tflock -n "__fish_tflock_needs_command" -f -a "add" -d 'Require a provider and lock it'
complete -c tflock -n "__fish_tflock_needs_command" -f -a "remove" -d 'Remove a requirement and its lock file entry'
complete -c tflock -n "__fish_tflock_needs_command" -f -a "upgrade" -d 'Select the newest versions that the constraints allow'
complete -c tflock -n "__fish_tflock_needs_command" -f -a "outdated" -d 'Show what `upgrade` would select, and what is newer'
complete -c tflock -n "__fish_tflock_needs_command" -f -a "migrate" -d 'Move the lock file to the other tool, at the same versions'
complete -c tflock -n "__fish_tflock_needs_command" -f -a "mirror" -d 'Copy the locked packages into a directory that serves as a mirror'
complete -c tflock -n "__fish_tflock_needs_command" -f -a "get" -d 'Install the locked modules'
complete -c tflock -n "__fish_tflock_needs_command" -f -a "fmt" -d 'Write the lock file as the tools write it'
complete -c tflock -n "__fish_tflock_needs_command" -f -a "hash" -d 'Print the hashes of provider packages'
complete -c tflock -n "__fish_tflock_needs_command" -f -a "list" -d 'List the entries of the lock file'
complete -c tflock -n "__fish_tflock_needs_command" -f -a "why" -d 'Show who asks for a provider'
complete -c tflock -n "__fish_tflock_needs_command" -f -a "diff" -d 'Explain what a change of the lock file means'
complete -c tflock -n "__fish_tflock_needs_command" -f -a "trust" -d 'Show or change who may sign which provider'
complete -c tflock -n "__fish_tflock_needs_command" -f -a "merge" -d 'Merge lock files by provider, for git or after it'
complete -c tflock -n "__fish_tflock_needs_command" -f -a "textconv" -d 'Print a lock file in short, for git diff'
complete -c tflock -n "__fish_tflock_needs_command" -f -a "git" -d 'Let git merge and compare lock files through tflock'
complete -c tflock -n "__fish_tflock_needs_command" -f -a "cache" -d 'Show, clear or share the index of known hashes'
complete -c tflock -n "__fish_tflock_needs_command" -f -a "completions" -d 'Print a completion script for a shell'
complete -c tflock -n "__fish_tflock_needs_command" -f -a "schema" -d 'Print the JSON schema of the documents of --format json'
complete -c tflock -n "__fish_tflock_needs_command" -f -a "version" -d 'Print the version'
complete -c tflock -n "__fish_tflock_needs_command" -f -a "help" -d 'Print the help of a command'
complete -c tflock -n "__fish_tflock_needs_command" -f -a "man" -d 'Print a manual page'
complete -c tflock -n "__fish_tflock_using_subcommand lock" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand lock" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand lock" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand lock" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand lock" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand lock" -l platform -d 'Record hashes for this platform; may be repeated' -r -f -a "aix_ppc64\t''
android_arm64\t''
darwin_386\t''
darwin_amd64\t''
darwin_arm64\t''
dragonfly_amd64\t''
freebsd_386\t''
freebsd_amd64\t''
freebsd_arm\t''
freebsd_arm64\t''
freebsd_riscv64\t''
illumos_amd64\t''
linux_386\t''
linux_amd64\t''
linux_arm\t''
linux_arm64\t''
linux_loong64\t''
linux_mips\t''
linux_mips64\t''
linux_mips64le\t''
linux_mipsle\t''
linux_ppc64\t''
linux_ppc64le\t''
linux_riscv64\t''
linux_s390x\t''
netbsd_386\t''
netbsd_amd64\t''
netbsd_arm\t''
netbsd_arm64\t''
openbsd_386\t''
openbsd_amd64\t''
openbsd_arm\t''
openbsd_arm64\t''
solaris_amd64\t''
windows_386\t''
windows_amd64\t''
windows_arm\t''
windows_arm64\t''"
complete -c tflock -n "__fish_tflock_using_subcommand lock" -l source -d 'Where packages are asked for: origin, configured (the installation methods of the CLI configuration), fs:DIR, net:URL or oci:TEMPLATE. The settings decide if none is named, and else the origin registries are asked' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand lock" -l fs-mirror -d 'Take packages from this filesystem mirror only, packed or unpacked: fs:DIR' -r -f -a "(__fish_complete_directories)"
complete -c tflock -n "__fish_tflock_using_subcommand lock" -l net-mirror -d 'Take packages from this network mirror only: net:URL' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand lock" -l h1 -d 'Whose h1: hashes are written: also the registry\'s, or only those computed here' -r -f -a "registry\t'Also those that the origin registry reports'
verified\t'Only those computed here from archives with a signed checksum'"
complete -c tflock -n "__fish_tflock_using_subcommand lock" -l state -d 'A state file, or the output of `state pull`: providers in it are kept' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand lock" -l accept-republished -d 'Replace the hashes of a release that was published again; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand lock" -l reason -d 'The reason; it is kept in the trust file' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand lock" -l index -d 'The shared index to write into, by its URL. One that settings in the work tree name is never written to' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand lock" -l modules -d 'Which modules of registries, git and archives are read: installed ones and else fetched, only installed, or none' -r -f -a "auto\t'Installed ones where they are up to date; others are fetched into the cache'
installed\t'Those that `init` or `get` installed'
none\t'None: what they require is not known'"
complete -c tflock -n "__fish_tflock_using_subcommand lock" -l var -d 'Set a variable on which the source of a module depends; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand lock" -l var-file -d 'Set variables from a file; may be repeated' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand lock" -s C -l chdir -d 'Work in this root module as if started there; may be repeated' -r -f -a "(__fish_complete_directories)"
complete -c tflock -n "__fish_tflock_using_subcommand lock" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand lock" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand lock" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand lock" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand lock" -l dry-run -d 'Write nothing; print the diff'
complete -c tflock -n "__fish_tflock_using_subcommand lock" -l no-first-use -d 'Refuse providers whose signer is not in the trust file yet, instead of remembering it; for bots'
complete -c tflock -n "__fish_tflock_using_subcommand lock" -l check -d 'Write nothing; exit 1 if the file would change'
complete -c tflock -n "__fish_tflock_using_subcommand lock" -l from-lock -d 'Read no configuration; complete the hashes of the entries that are there'
complete -c tflock -n "__fish_tflock_using_subcommand lock" -l prune -d 'Remove entries that the configuration does not require'
complete -c tflock -n "__fish_tflock_using_subcommand lock" -l lock-modules -d 'Lock modules too: writes .tflock.modules.hcl, which later runs keep complete'
complete -c tflock -n "__fish_tflock_using_subcommand lock" -l create -d 'With -r: also in directories with configuration that no module calls and that have no lock file'
complete -c tflock -n "__fish_tflock_using_subcommand lock" -l publish -d 'Then write what was computed here of all that is locked into a shared index: that of --index or `TFLOCK_INDEX`'
complete -c tflock -n "__fish_tflock_using_subcommand lock" -s r -l recursive -d 'Work in every root module below: each directory with a lock file'
complete -c tflock -n "__fish_tflock_using_subcommand lock" -l fail-fast -d 'Begin no further root module once one has failed'
complete -c tflock -n "__fish_tflock_using_subcommand lock" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand verify" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand verify" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand verify" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand verify" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand verify" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand verify" -l max-download -d 'Download at most this many bytes, such as 500MiB; what is left then stays unknown, exit code 4. Default 2GiB, with --deep as much as there is' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand verify" -l base -d 'Judge a change, as in a pull request: believe the settings and the trust file of this revision, not those of the work tree; compare lock files with its merge base with HEAD; look at the root modules that changed' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand verify" -l inconclusive -d 'What it means that a registry does not answer; with --base never a note for entries that changed' -r -f -a "fail\t'Exit code 4'
warn\t'A note'"
complete -c tflock -n "__fish_tflock_using_subcommand verify" -l source -d 'Where packages are asked for: origin, configured (the installation methods of the CLI configuration), fs:DIR, net:URL or oci:TEMPLATE. The settings decide if none is named, and else the origin registries are asked' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand verify" -l fs-mirror -d 'Take packages from this filesystem mirror only, packed or unpacked: fs:DIR' -r -f -a "(__fish_complete_directories)"
complete -c tflock -n "__fish_tflock_using_subcommand verify" -l net-mirror -d 'Take packages from this network mirror only: net:URL' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand verify" -l modules -d 'Which modules of registries, git and archives are read: installed ones and else fetched, only installed, or none' -r -f -a "auto\t'Installed ones where they are up to date; others are fetched into the cache'
installed\t'Those that `init` or `get` installed'
none\t'None: what they require is not known'"
complete -c tflock -n "__fish_tflock_using_subcommand verify" -l var -d 'Set a variable on which the source of a module depends; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand verify" -l var-file -d 'Set variables from a file; may be repeated' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand verify" -s C -l chdir -d 'Work in this root module as if started there; may be repeated' -r -f -a "(__fish_complete_directories)"
complete -c tflock -n "__fish_tflock_using_subcommand verify" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand verify" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand verify" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand verify" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand verify" -s r -l recursive -d 'Check every root module below: every directory with a lock file, or with a backend and no caller'
complete -c tflock -n "__fish_tflock_using_subcommand verify" -l installed -d 'Also hash what is installed, and what would be installed from disk: .terraform/providers and modules, plugin cache, filesystem mirrors'
complete -c tflock -n "__fish_tflock_using_subcommand verify" -l no-download -d 'Download nothing; an h1 that neither index nor registry know stays unknown'
complete -c tflock -n "__fish_tflock_using_subcommand verify" -l deep -d 'Believe neither the index nor what registries report: compute each recorded h1 from its archive'
complete -c tflock -n "__fish_tflock_using_subcommand verify" -l all-platforms -d 'With --deep: look at every archive in the checksums'
complete -c tflock -n "__fish_tflock_using_subcommand verify" -l allow-trust-change -d 'With --base: their owner approved what the change does to settings and trust file, so that those of the work tree count'
complete -c tflock -n "__fish_tflock_using_subcommand verify" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand explain" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand explain" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand explain" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand explain" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand explain" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand explain" -s C -l chdir -d 'Work in this root module as if started there; may be repeated' -r -f -a "(__fish_complete_directories)"
complete -c tflock -n "__fish_tflock_using_subcommand explain" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand explain" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand explain" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand explain" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand explain" -s r -l recursive -d 'Look at the lock file of every root module below'
complete -c tflock -n "__fish_tflock_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand providers; and not __fish_seen_subcommand_from lock" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand providers; and not __fish_seen_subcommand_from lock" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand providers; and not __fish_seen_subcommand_from lock" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand providers; and not __fish_seen_subcommand_from lock" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand providers; and not __fish_seen_subcommand_from lock" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand providers; and not __fish_seen_subcommand_from lock" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand providers; and not __fish_seen_subcommand_from lock" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand providers; and not __fish_seen_subcommand_from lock" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand providers; and not __fish_seen_subcommand_from lock" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand providers; and not __fish_seen_subcommand_from lock" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand providers; and not __fish_seen_subcommand_from lock" -f -a "lock" -d 'Make the lock file complete'
complete -c tflock -n "__fish_tflock_using_subcommand providers; and __fish_seen_subcommand_from lock" -l platform -d 'Record hashes for this platform; may be repeated' -r -f -a "aix_ppc64\t''
android_arm64\t''
darwin_386\t''
darwin_amd64\t''
darwin_arm64\t''
dragonfly_amd64\t''
freebsd_386\t''
freebsd_amd64\t''
freebsd_arm\t''
freebsd_arm64\t''
freebsd_riscv64\t''
illumos_amd64\t''
linux_386\t''
linux_amd64\t''
linux_arm\t''
linux_arm64\t''
linux_loong64\t''
linux_mips\t''
linux_mips64\t''
linux_mips64le\t''
linux_mipsle\t''
linux_ppc64\t''
linux_ppc64le\t''
linux_riscv64\t''
linux_s390x\t''
netbsd_386\t''
netbsd_amd64\t''
netbsd_arm\t''
netbsd_arm64\t''
openbsd_386\t''
openbsd_amd64\t''
openbsd_arm\t''
openbsd_arm64\t''
solaris_amd64\t''
windows_386\t''
windows_amd64\t''
windows_arm\t''
windows_arm64\t''"
complete -c tflock -n "__fish_tflock_using_subcommand providers; and __fish_seen_subcommand_from lock" -l source -d 'Where packages are asked for: origin, configured (the installation methods of the CLI configuration), fs:DIR, net:URL or oci:TEMPLATE. The settings decide if none is named, and else the origin registries are asked' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand providers; and __fish_seen_subcommand_from lock" -l fs-mirror -d 'Take packages from this filesystem mirror only, packed or unpacked: fs:DIR' -r -f -a "(__fish_complete_directories)"
complete -c tflock -n "__fish_tflock_using_subcommand providers; and __fish_seen_subcommand_from lock" -l net-mirror -d 'Take packages from this network mirror only: net:URL' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand providers; and __fish_seen_subcommand_from lock" -l h1 -d 'Whose h1: hashes are written: also the registry\'s, or only those computed here' -r -f -a "registry\t'Also those that the origin registry reports'
verified\t'Only those computed here from archives with a signed checksum'"
complete -c tflock -n "__fish_tflock_using_subcommand providers; and __fish_seen_subcommand_from lock" -l state -d 'A state file, or the output of `state pull`: providers in it are kept' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand providers; and __fish_seen_subcommand_from lock" -l accept-republished -d 'Replace the hashes of a release that was published again; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand providers; and __fish_seen_subcommand_from lock" -l reason -d 'The reason; it is kept in the trust file' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand providers; and __fish_seen_subcommand_from lock" -l index -d 'The shared index to write into, by its URL. One that settings in the work tree name is never written to' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand providers; and __fish_seen_subcommand_from lock" -l modules -d 'Which modules of registries, git and archives are read: installed ones and else fetched, only installed, or none' -r -f -a "auto\t'Installed ones where they are up to date; others are fetched into the cache'
installed\t'Those that `init` or `get` installed'
none\t'None: what they require is not known'"
complete -c tflock -n "__fish_tflock_using_subcommand providers; and __fish_seen_subcommand_from lock" -l var -d 'Set a variable on which the source of a module depends; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand providers; and __fish_seen_subcommand_from lock" -l var-file -d 'Set variables from a file; may be repeated' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand providers; and __fish_seen_subcommand_from lock" -s C -l chdir -d 'Work in this root module as if started there; may be repeated' -r -f -a "(__fish_complete_directories)"
complete -c tflock -n "__fish_tflock_using_subcommand providers; and __fish_seen_subcommand_from lock" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand providers; and __fish_seen_subcommand_from lock" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand providers; and __fish_seen_subcommand_from lock" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand providers; and __fish_seen_subcommand_from lock" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand providers; and __fish_seen_subcommand_from lock" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand providers; and __fish_seen_subcommand_from lock" -l dry-run -d 'Write nothing; print the diff'
complete -c tflock -n "__fish_tflock_using_subcommand providers; and __fish_seen_subcommand_from lock" -l no-first-use -d 'Refuse providers whose signer is not in the trust file yet, instead of remembering it; for bots'
complete -c tflock -n "__fish_tflock_using_subcommand providers; and __fish_seen_subcommand_from lock" -l check -d 'Write nothing; exit 1 if the file would change'
complete -c tflock -n "__fish_tflock_using_subcommand providers; and __fish_seen_subcommand_from lock" -l from-lock -d 'Read no configuration; complete the hashes of the entries that are there'
complete -c tflock -n "__fish_tflock_using_subcommand providers; and __fish_seen_subcommand_from lock" -l prune -d 'Remove entries that the configuration does not require'
complete -c tflock -n "__fish_tflock_using_subcommand providers; and __fish_seen_subcommand_from lock" -l lock-modules -d 'Lock modules too: writes .tflock.modules.hcl, which later runs keep complete'
complete -c tflock -n "__fish_tflock_using_subcommand providers; and __fish_seen_subcommand_from lock" -l create -d 'With -r: also in directories with configuration that no module calls and that have no lock file'
complete -c tflock -n "__fish_tflock_using_subcommand providers; and __fish_seen_subcommand_from lock" -l publish -d 'Then write what was computed here of all that is locked into a shared index: that of --index or `TFLOCK_INDEX`'
complete -c tflock -n "__fish_tflock_using_subcommand providers; and __fish_seen_subcommand_from lock" -s r -l recursive -d 'Work in every root module below: each directory with a lock file'
complete -c tflock -n "__fish_tflock_using_subcommand providers; and __fish_seen_subcommand_from lock" -l fail-fast -d 'Begin no further root module once one has failed'
complete -c tflock -n "__fish_tflock_using_subcommand providers; and __fish_seen_subcommand_from lock" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand providers; and __fish_seen_subcommand_from lock" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand providers; and __fish_seen_subcommand_from lock" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand providers; and __fish_seen_subcommand_from lock" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand providers; and __fish_seen_subcommand_from lock" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand add" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand add" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand add" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand add" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand add" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand add" -l name -d 'The local name; for one provider. Its type unless told otherwise' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand add" -l platform -d 'Record hashes for this platform; may be repeated' -r -f -a "aix_ppc64\t''
android_arm64\t''
darwin_386\t''
darwin_amd64\t''
darwin_arm64\t''
dragonfly_amd64\t''
freebsd_386\t''
freebsd_amd64\t''
freebsd_arm\t''
freebsd_arm64\t''
freebsd_riscv64\t''
illumos_amd64\t''
linux_386\t''
linux_amd64\t''
linux_arm\t''
linux_arm64\t''
linux_loong64\t''
linux_mips\t''
linux_mips64\t''
linux_mips64le\t''
linux_mipsle\t''
linux_ppc64\t''
linux_ppc64le\t''
linux_riscv64\t''
linux_s390x\t''
netbsd_386\t''
netbsd_amd64\t''
netbsd_arm\t''
netbsd_arm64\t''
openbsd_386\t''
openbsd_amd64\t''
openbsd_arm\t''
openbsd_arm64\t''
solaris_amd64\t''
windows_386\t''
windows_amd64\t''
windows_arm\t''
windows_arm64\t''"
complete -c tflock -n "__fish_tflock_using_subcommand add" -l source -d 'Where packages are asked for: origin, configured (the installation methods of the CLI configuration), fs:DIR, net:URL or oci:TEMPLATE. The settings decide if none is named, and else the origin registries are asked' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand add" -l fs-mirror -d 'Take packages from this filesystem mirror only, packed or unpacked: fs:DIR' -r -f -a "(__fish_complete_directories)"
complete -c tflock -n "__fish_tflock_using_subcommand add" -l net-mirror -d 'Take packages from this network mirror only: net:URL' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand add" -l h1 -d 'Whose h1: hashes are written: also the registry\'s, or only those computed here' -r -f -a "registry\t'Also those that the origin registry reports'
verified\t'Only those computed here from archives with a signed checksum'"
complete -c tflock -n "__fish_tflock_using_subcommand add" -l modules -d 'Which modules of registries, git and archives are read: installed ones and else fetched, only installed, or none' -r -f -a "auto\t'Installed ones where they are up to date; others are fetched into the cache'
installed\t'Those that `init` or `get` installed'
none\t'None: what they require is not known'"
complete -c tflock -n "__fish_tflock_using_subcommand add" -l var -d 'Set a variable on which the source of a module depends; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand add" -l var-file -d 'Set variables from a file; may be repeated' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand add" -s C -l chdir -d 'Work in this root module as if started there; may be repeated' -r -f -a "(__fish_complete_directories)"
complete -c tflock -n "__fish_tflock_using_subcommand add" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand add" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand add" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand add" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand add" -l pin -d 'Require exactly the version that is selected'
complete -c tflock -n "__fish_tflock_using_subcommand add" -l replace -d 'Change a requirement that is there already'
complete -c tflock -n "__fish_tflock_using_subcommand add" -l lock-only -d 'Leave the configuration alone'
complete -c tflock -n "__fish_tflock_using_subcommand add" -l previous -d 'Select the version that git\'s history recorded last, and hold it to the hashes recorded then'
complete -c tflock -n "__fish_tflock_using_subcommand add" -l no-previous -d 'Ignore git\'s history: even a version that it recorded is a first use'
complete -c tflock -n "__fish_tflock_using_subcommand add" -l dry-run -d 'Write nothing; print the diff'
complete -c tflock -n "__fish_tflock_using_subcommand add" -l no-first-use -d 'Refuse providers whose signer is not in the trust file yet, instead of remembering it; for bots'
complete -c tflock -n "__fish_tflock_using_subcommand add" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand remove" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand remove" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand remove" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand remove" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand remove" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand remove" -l modules -d 'Which modules of registries, git and archives are read: installed ones and else fetched, only installed, or none' -r -f -a "auto\t'Installed ones where they are up to date; others are fetched into the cache'
installed\t'Those that `init` or `get` installed'
none\t'None: what they require is not known'"
complete -c tflock -n "__fish_tflock_using_subcommand remove" -l var -d 'Set a variable on which the source of a module depends; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand remove" -l var-file -d 'Set variables from a file; may be repeated' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand remove" -s C -l chdir -d 'Work in this root module as if started there; may be repeated' -r -f -a "(__fish_complete_directories)"
complete -c tflock -n "__fish_tflock_using_subcommand remove" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand remove" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand remove" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand remove" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand remove" -l force -d 'Also while something uses the provider'
complete -c tflock -n "__fish_tflock_using_subcommand remove" -l lock-only -d 'Leave the configuration alone'
complete -c tflock -n "__fish_tflock_using_subcommand remove" -l dry-run -d 'Write nothing; print the diff'
complete -c tflock -n "__fish_tflock_using_subcommand remove" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand upgrade" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand upgrade" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand upgrade" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand upgrade" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand upgrade" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand upgrade" -l modules -d 'Lock these modules again from their sources, all of them without SOURCE; providers only where ADDR names some' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand upgrade" -l precise -d 'Select this version, newer or older; for one provider' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand upgrade" -l within -d 'Change no more than this part of the version' -r -f -a "patch\t'The last number'
minor\t'The last two numbers'
major\t'Any number'"
complete -c tflock -n "__fish_tflock_using_subcommand upgrade" -l exclude-newer -d 'Skip releases that were signed after this day, or within this time: YYYY-MM-DD, 7d, 12h, 2w' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand upgrade" -l platform -d 'Record hashes for this platform; may be repeated' -r -f -a "aix_ppc64\t''
android_arm64\t''
darwin_386\t''
darwin_amd64\t''
darwin_arm64\t''
dragonfly_amd64\t''
freebsd_386\t''
freebsd_amd64\t''
freebsd_arm\t''
freebsd_arm64\t''
freebsd_riscv64\t''
illumos_amd64\t''
linux_386\t''
linux_amd64\t''
linux_arm\t''
linux_arm64\t''
linux_loong64\t''
linux_mips\t''
linux_mips64\t''
linux_mips64le\t''
linux_mipsle\t''
linux_ppc64\t''
linux_ppc64le\t''
linux_riscv64\t''
linux_s390x\t''
netbsd_386\t''
netbsd_amd64\t''
netbsd_arm\t''
netbsd_arm64\t''
openbsd_386\t''
openbsd_amd64\t''
openbsd_arm\t''
openbsd_arm64\t''
solaris_amd64\t''
windows_386\t''
windows_amd64\t''
windows_arm\t''
windows_arm64\t''"
complete -c tflock -n "__fish_tflock_using_subcommand upgrade" -l source -d 'Where packages are asked for: origin, configured (the installation methods of the CLI configuration), fs:DIR, net:URL or oci:TEMPLATE. The settings decide if none is named, and else the origin registries are asked' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand upgrade" -l fs-mirror -d 'Take packages from this filesystem mirror only, packed or unpacked: fs:DIR' -r -f -a "(__fish_complete_directories)"
complete -c tflock -n "__fish_tflock_using_subcommand upgrade" -l net-mirror -d 'Take packages from this network mirror only: net:URL' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand upgrade" -l h1 -d 'Whose h1: hashes are written: also the registry\'s, or only those computed here' -r -f -a "registry\t'Also those that the origin registry reports'
verified\t'Only those computed here from archives with a signed checksum'"
complete -c tflock -n "__fish_tflock_using_subcommand upgrade" -l state -d 'A state file, or the output of `state pull`: providers in it are kept' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand upgrade" -l var -d 'Set a variable on which the source of a module depends; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand upgrade" -l var-file -d 'Set variables from a file; may be repeated' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand upgrade" -s C -l chdir -d 'Work in this root module as if started there; may be repeated' -r -f -a "(__fish_complete_directories)"
complete -c tflock -n "__fish_tflock_using_subcommand upgrade" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand upgrade" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand upgrade" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand upgrade" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand upgrade" -l bump -d 'Also rewrite the constraint of the root module that does not allow the version'
complete -c tflock -n "__fish_tflock_using_subcommand upgrade" -l pre -d 'Let pre-releases count; the tools accept one only where a constraint names it'
complete -c tflock -n "__fish_tflock_using_subcommand upgrade" -l newest-with-platforms -d 'Skip releases without a package for a wanted platform'
complete -c tflock -n "__fish_tflock_using_subcommand upgrade" -l same-versions -d 'With -r or several -C: give a provider the same version everywhere, the newest that suits all root modules'
complete -c tflock -n "__fish_tflock_using_subcommand upgrade" -l allow-downgrade -d 'With --same-versions: also a release that is older than what some root modules have'
complete -c tflock -n "__fish_tflock_using_subcommand upgrade" -l dry-run -d 'Write nothing; print the diff'
complete -c tflock -n "__fish_tflock_using_subcommand upgrade" -l no-first-use -d 'Refuse providers whose signer is not in the trust file yet, instead of remembering it; for bots'
complete -c tflock -n "__fish_tflock_using_subcommand upgrade" -l check -d 'Write nothing; exit 1 if the file would change'
complete -c tflock -n "__fish_tflock_using_subcommand upgrade" -l prune -d 'Remove entries that the configuration does not require'
complete -c tflock -n "__fish_tflock_using_subcommand upgrade" -s r -l recursive -d 'Work in every root module below: each directory with a lock file'
complete -c tflock -n "__fish_tflock_using_subcommand upgrade" -l fail-fast -d 'Begin no further root module once one has failed'
complete -c tflock -n "__fish_tflock_using_subcommand upgrade" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand outdated" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand outdated" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand outdated" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand outdated" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand outdated" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand outdated" -l source -d 'Where packages are asked for: origin, configured (the installation methods of the CLI configuration), fs:DIR, net:URL or oci:TEMPLATE. The settings decide if none is named, and else the origin registries are asked' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand outdated" -l fs-mirror -d 'Take packages from this filesystem mirror only, packed or unpacked: fs:DIR' -r -f -a "(__fish_complete_directories)"
complete -c tflock -n "__fish_tflock_using_subcommand outdated" -l net-mirror -d 'Take packages from this network mirror only: net:URL' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand outdated" -l var -d 'Set a variable on which the source of a module depends; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand outdated" -l var-file -d 'Set variables from a file; may be repeated' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand outdated" -s C -l chdir -d 'Work in this root module as if started there; may be repeated' -r -f -a "(__fish_complete_directories)"
complete -c tflock -n "__fish_tflock_using_subcommand outdated" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand outdated" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand outdated" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand outdated" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand outdated" -l exit-code -d 'Exit 1 if the constraints allow a newer version than the selected one, or another one must be selected'
complete -c tflock -n "__fish_tflock_using_subcommand outdated" -l modules -d 'Look at the modules of registries and git instead: what is locked, and what their sources offer'
complete -c tflock -n "__fish_tflock_using_subcommand outdated" -s r -l recursive -d 'Work in every root module below: each directory with a lock file'
complete -c tflock -n "__fish_tflock_using_subcommand outdated" -l fail-fast -d 'Begin no further root module once one has failed'
complete -c tflock -n "__fish_tflock_using_subcommand outdated" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand migrate" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand migrate" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand migrate" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand migrate" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand migrate" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand migrate" -l to -d 'The tool to move to' -r -f -a "tofu\t'OpenTofu, with registry.opentofu.org'
terraform\t'Terraform, with registry.terraform.io'"
complete -c tflock -n "__fish_tflock_using_subcommand migrate" -l platform -d 'Record hashes for this platform; may be repeated' -r -f -a "aix_ppc64\t''
android_arm64\t''
darwin_386\t''
darwin_amd64\t''
darwin_arm64\t''
dragonfly_amd64\t''
freebsd_386\t''
freebsd_amd64\t''
freebsd_arm\t''
freebsd_arm64\t''
freebsd_riscv64\t''
illumos_amd64\t''
linux_386\t''
linux_amd64\t''
linux_arm\t''
linux_arm64\t''
linux_loong64\t''
linux_mips\t''
linux_mips64\t''
linux_mips64le\t''
linux_mipsle\t''
linux_ppc64\t''
linux_ppc64le\t''
linux_riscv64\t''
linux_s390x\t''
netbsd_386\t''
netbsd_amd64\t''
netbsd_arm\t''
netbsd_arm64\t''
openbsd_386\t''
openbsd_amd64\t''
openbsd_arm\t''
openbsd_arm64\t''
solaris_amd64\t''
windows_386\t''
windows_amd64\t''
windows_arm\t''
windows_arm64\t''"
complete -c tflock -n "__fish_tflock_using_subcommand migrate" -l source -d 'Where packages are asked for: origin, configured (the installation methods of the CLI configuration), fs:DIR, net:URL or oci:TEMPLATE. The settings decide if none is named, and else the origin registries are asked' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand migrate" -l fs-mirror -d 'Take packages from this filesystem mirror only, packed or unpacked: fs:DIR' -r -f -a "(__fish_complete_directories)"
complete -c tflock -n "__fish_tflock_using_subcommand migrate" -l net-mirror -d 'Take packages from this network mirror only: net:URL' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand migrate" -l h1 -d 'Whose h1: hashes are written: also the registry\'s, or only those computed here' -r -f -a "registry\t'Also those that the origin registry reports'
verified\t'Only those computed here from archives with a signed checksum'"
complete -c tflock -n "__fish_tflock_using_subcommand migrate" -l modules -d 'Which modules of registries, git and archives are read: installed ones and else fetched, only installed, or none' -r -f -a "auto\t'Installed ones where they are up to date; others are fetched into the cache'
installed\t'Those that `init` or `get` installed'
none\t'None: what they require is not known'"
complete -c tflock -n "__fish_tflock_using_subcommand migrate" -l var -d 'Set a variable on which the source of a module depends; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand migrate" -l var-file -d 'Set variables from a file; may be repeated' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand migrate" -s C -l chdir -d 'Work in this root module as if started there; may be repeated' -r -f -a "(__fish_complete_directories)"
complete -c tflock -n "__fish_tflock_using_subcommand migrate" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand migrate" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand migrate" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand migrate" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand migrate" -l edit-config -d 'Also write the new host where source addresses in the configuration name the old one'
complete -c tflock -n "__fish_tflock_using_subcommand migrate" -l dry-run -d 'Write nothing; print the diff'
complete -c tflock -n "__fish_tflock_using_subcommand migrate" -l no-first-use -d 'Refuse providers whose signer is not in the trust file yet, instead of remembering it; for bots'
complete -c tflock -n "__fish_tflock_using_subcommand migrate" -l check -d 'Write nothing; exit 1 if a file would change'
complete -c tflock -n "__fish_tflock_using_subcommand migrate" -s r -l recursive -d 'Work in every root module below: each directory with a lock file'
complete -c tflock -n "__fish_tflock_using_subcommand migrate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand mirror" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand mirror" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand mirror" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand mirror" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand mirror" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand mirror" -l platform -d 'Copy the packages of this platform; may be repeated. Else those of the settings, else those that are locked' -r -f -a "aix_ppc64\t''
android_arm64\t''
darwin_386\t''
darwin_amd64\t''
darwin_arm64\t''
dragonfly_amd64\t''
freebsd_386\t''
freebsd_amd64\t''
freebsd_arm\t''
freebsd_arm64\t''
freebsd_riscv64\t''
illumos_amd64\t''
linux_386\t''
linux_amd64\t''
linux_arm\t''
linux_arm64\t''
linux_loong64\t''
linux_mips\t''
linux_mips64\t''
linux_mips64le\t''
linux_mipsle\t''
linux_ppc64\t''
linux_ppc64le\t''
linux_riscv64\t''
linux_s390x\t''
netbsd_386\t''
netbsd_amd64\t''
netbsd_arm\t''
netbsd_arm64\t''
openbsd_386\t''
openbsd_amd64\t''
openbsd_arm\t''
openbsd_arm64\t''
solaris_amd64\t''
windows_386\t''
windows_amd64\t''
windows_arm\t''
windows_arm64\t''"
complete -c tflock -n "__fish_tflock_using_subcommand mirror" -l source -d 'Where packages are asked for: origin, configured (the installation methods of the CLI configuration), fs:DIR, net:URL or oci:TEMPLATE. The settings decide if none is named, and else the origin registries are asked' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand mirror" -l fs-mirror -d 'Take packages from this filesystem mirror only, packed or unpacked: fs:DIR' -r -f -a "(__fish_complete_directories)"
complete -c tflock -n "__fish_tflock_using_subcommand mirror" -l net-mirror -d 'Take packages from this network mirror only: net:URL' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand mirror" -s C -l chdir -d 'Work in this root module as if started there; may be repeated' -r -f -a "(__fish_complete_directories)"
complete -c tflock -n "__fish_tflock_using_subcommand mirror" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand mirror" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand mirror" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand mirror" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand mirror" -l check -d 'Write nothing and ask no server; exit 1 if the mirror lacks something, 3 if something in it was altered'
complete -c tflock -n "__fish_tflock_using_subcommand mirror" -s r -l recursive -d 'Copy for every root module below: each directory with a lock file'
complete -c tflock -n "__fish_tflock_using_subcommand mirror" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand get" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand get" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand get" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand get" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand get" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand get" -l var -d 'Set a variable on which the source of a module depends; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand get" -l var-file -d 'Set variables from a file; may be repeated' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand get" -s C -l chdir -d 'Work in this root module as if started there; may be repeated' -r -f -a "(__fish_complete_directories)"
complete -c tflock -n "__fish_tflock_using_subcommand get" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand get" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand get" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand get" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand get" -s r -l recursive -d 'In every root module below: each directory with a lock file'
complete -c tflock -n "__fish_tflock_using_subcommand get" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand fmt" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand fmt" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand fmt" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand fmt" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand fmt" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand fmt" -s C -l chdir -d 'Work in this root module as if started there; may be repeated' -r -f -a "(__fish_complete_directories)"
complete -c tflock -n "__fish_tflock_using_subcommand fmt" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand fmt" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand fmt" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand fmt" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand fmt" -l check -d 'Write nothing; exit 1 if a file would change'
complete -c tflock -n "__fish_tflock_using_subcommand fmt" -s r -l recursive -d 'Format every lock file below'
complete -c tflock -n "__fish_tflock_using_subcommand fmt" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand hash" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand hash" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand hash" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand hash" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand hash" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand hash" -s C -l chdir -d 'Work in this root module as if started there; may be repeated' -r -f -a "(__fish_complete_directories)"
complete -c tflock -n "__fish_tflock_using_subcommand hash" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand hash" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand hash" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand hash" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand hash" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand list" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand list" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand list" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand list" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand list" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand list" -l by -d 'With several root modules: which versions of each provider, or what each root module locks' -r -f -a "provider\t'Which versions of each provider, and where'
root\t'What each root module locks'"
complete -c tflock -n "__fish_tflock_using_subcommand list" -l var -d 'Set a variable on which the source of a module depends; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand list" -l var-file -d 'Set variables from a file; may be repeated' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand list" -s C -l chdir -d 'Work in this root module as if started there; may be repeated' -r -f -a "(__fish_complete_directories)"
complete -c tflock -n "__fish_tflock_using_subcommand list" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand list" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand list" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand list" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand list" -l modules -d 'List the calls of modules that are not local instead, with what is locked of them'
complete -c tflock -n "__fish_tflock_using_subcommand list" -s r -l recursive -d 'Look at every root module below: each directory with a lock file'
complete -c tflock -n "__fish_tflock_using_subcommand list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand why" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand why" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand why" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand why" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand why" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand why" -l modules -d 'Which modules of registries, git and archives are read: installed ones and else fetched, only installed, or none' -r -f -a "auto\t'Installed ones where they are up to date; others are fetched into the cache'
installed\t'Those that `init` or `get` installed'
none\t'None: what they require is not known'"
complete -c tflock -n "__fish_tflock_using_subcommand why" -l var -d 'Set a variable on which the source of a module depends; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand why" -l var-file -d 'Set variables from a file; may be repeated' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand why" -s C -l chdir -d 'Work in this root module as if started there; may be repeated' -r -f -a "(__fish_complete_directories)"
complete -c tflock -n "__fish_tflock_using_subcommand why" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand why" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand why" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand why" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand why" -s r -l recursive -d 'Look at every root module below: each directory with a lock file'
complete -c tflock -n "__fish_tflock_using_subcommand why" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand diff" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand diff" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand diff" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand diff" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand diff" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand diff" -l source -d 'Where packages are asked for: origin, configured (the installation methods of the CLI configuration), fs:DIR, net:URL or oci:TEMPLATE. The settings decide if none is named, and else the origin registries are asked' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand diff" -l fs-mirror -d 'Take packages from this filesystem mirror only, packed or unpacked: fs:DIR' -r -f -a "(__fish_complete_directories)"
complete -c tflock -n "__fish_tflock_using_subcommand diff" -l net-mirror -d 'Take packages from this network mirror only: net:URL' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand diff" -s C -l chdir -d 'Work in this root module as if started there; may be repeated' -r -f -a "(__fish_complete_directories)"
complete -c tflock -n "__fish_tflock_using_subcommand diff" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand diff" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand diff" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand diff" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand diff" -l tip -d 'Compare with the revision itself, not with its merge base'
complete -c tflock -n "__fish_tflock_using_subcommand diff" -s r -l recursive -d 'Every lock file below'
complete -c tflock -n "__fish_tflock_using_subcommand diff" -l online -d 'Ask registries what is known of the releases that changed: who signed them, which checksums they have'
complete -c tflock -n "__fish_tflock_using_subcommand diff" -l no-download -d 'With --online: download nothing'
complete -c tflock -n "__fish_tflock_using_subcommand diff" -l exit-code -d 'Exit 1 if there is a difference, 3 if trust is refused: a new checksum contradicts the record, no source vouches for it, or its release is one that must not be used'
complete -c tflock -n "__fish_tflock_using_subcommand diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and not __fish_seen_subcommand_from init list add rotate deny forget" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand trust; and not __fish_seen_subcommand_from init list add rotate deny forget" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand trust; and not __fish_seen_subcommand_from init list add rotate deny forget" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand trust; and not __fish_seen_subcommand_from init list add rotate deny forget" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand trust; and not __fish_seen_subcommand_from init list add rotate deny forget" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand trust; and not __fish_seen_subcommand_from init list add rotate deny forget" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and not __fish_seen_subcommand_from init list add rotate deny forget" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and not __fish_seen_subcommand_from init list add rotate deny forget" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and not __fish_seen_subcommand_from init list add rotate deny forget" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and not __fish_seen_subcommand_from init list add rotate deny forget" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and not __fish_seen_subcommand_from init list add rotate deny forget" -f -a "init" -d 'Ask for the signer of everything that is locked, and remember it'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and not __fish_seen_subcommand_from init list add rotate deny forget" -f -a "list" -d 'Print who is remembered, denied and accepted'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and not __fish_seen_subcommand_from init list add rotate deny forget" -f -a "add" -d 'Accept one more signer'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and not __fish_seen_subcommand_from init list add rotate deny forget" -f -a "rotate" -d 'Replace the remembered signers by another one'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and not __fish_seen_subcommand_from init list add rotate deny forget" -f -a "deny" -d 'Refuse a signing key, whatever it signs'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and not __fish_seen_subcommand_from init list add rotate deny forget" -f -a "forget" -d 'Forget who signs a provider: the next release is a first use'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from init" -l source -d 'Where packages are asked for: origin, configured (the installation methods of the CLI configuration), fs:DIR, net:URL or oci:TEMPLATE. The settings decide if none is named, and else the origin registries are asked' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from init" -l fs-mirror -d 'Take packages from this filesystem mirror only, packed or unpacked: fs:DIR' -r -f -a "(__fish_complete_directories)"
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from init" -l net-mirror -d 'Take packages from this network mirror only: net:URL' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from init" -s C -l chdir -d 'Work in this root module as if started there; may be repeated' -r -f -a "(__fish_complete_directories)"
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from init" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from init" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from init" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from init" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from init" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from init" -s r -l recursive -d 'All root modules below'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from init" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from init" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from init" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from init" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from init" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from list" -s C -l chdir -d 'Work in this root module as if started there; may be repeated' -r -f -a "(__fish_complete_directories)"
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from list" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from list" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from list" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from list" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from list" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from list" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from list" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from add" -s C -l chdir -d 'Work in this root module as if started there; may be repeated' -r -f -a "(__fish_complete_directories)"
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from add" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from add" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from add" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from add" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from add" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from add" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from add" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from add" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from add" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from add" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from rotate" -l reason -d 'The reason; it is kept in the trust file' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from rotate" -s C -l chdir -d 'Work in this root module as if started there; may be repeated' -r -f -a "(__fish_complete_directories)"
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from rotate" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from rotate" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from rotate" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from rotate" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from rotate" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from rotate" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from rotate" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from rotate" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from rotate" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from rotate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from deny" -l reason -d 'The reason; it is kept in the trust file' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from deny" -s C -l chdir -d 'Work in this root module as if started there; may be repeated' -r -f -a "(__fish_complete_directories)"
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from deny" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from deny" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from deny" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from deny" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from deny" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from deny" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from deny" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from deny" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from deny" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from deny" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from forget" -s C -l chdir -d 'Work in this root module as if started there; may be repeated' -r -f -a "(__fish_complete_directories)"
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from forget" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from forget" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from forget" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from forget" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from forget" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from forget" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from forget" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from forget" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from forget" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand trust; and __fish_seen_subcommand_from forget" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand merge" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand merge" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand merge" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand merge" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand merge" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand merge" -l resolve -d 'Merge the sides of these files with conflict markers' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand merge" -s C -l chdir -d 'Work in this root module as if started there; may be repeated' -r -f -a "(__fish_complete_directories)"
complete -c tflock -n "__fish_tflock_using_subcommand merge" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand merge" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand merge" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand merge" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand merge" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand textconv" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand textconv" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand textconv" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand textconv" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand textconv" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand textconv" -s C -l chdir -d 'Work in this root module as if started there; may be repeated' -r -f -a "(__fish_complete_directories)"
complete -c tflock -n "__fish_tflock_using_subcommand textconv" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand textconv" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand textconv" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand textconv" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand textconv" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand git; and not __fish_seen_subcommand_from install uninstall status" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand git; and not __fish_seen_subcommand_from install uninstall status" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand git; and not __fish_seen_subcommand_from install uninstall status" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand git; and not __fish_seen_subcommand_from install uninstall status" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand git; and not __fish_seen_subcommand_from install uninstall status" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand git; and not __fish_seen_subcommand_from install uninstall status" -s C -l chdir -d 'Work in this root module as if started there; may be repeated' -r -f -a "(__fish_complete_directories)"
complete -c tflock -n "__fish_tflock_using_subcommand git; and not __fish_seen_subcommand_from install uninstall status" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand git; and not __fish_seen_subcommand_from install uninstall status" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand git; and not __fish_seen_subcommand_from install uninstall status" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand git; and not __fish_seen_subcommand_from install uninstall status" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand git; and not __fish_seen_subcommand_from install uninstall status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand git; and not __fish_seen_subcommand_from install uninstall status" -f -a "install" -d 'Write .gitattributes and the repository\'s configuration'
complete -c tflock -n "__fish_tflock_using_subcommand git; and not __fish_seen_subcommand_from install uninstall status" -f -a "uninstall" -d 'Remove what install wrote'
complete -c tflock -n "__fish_tflock_using_subcommand git; and not __fish_seen_subcommand_from install uninstall status" -f -a "status" -d 'Show what is installed; exit 1 if something is missing'
complete -c tflock -n "__fish_tflock_using_subcommand git; and __fish_seen_subcommand_from install" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand git; and __fish_seen_subcommand_from install" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand git; and __fish_seen_subcommand_from install" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand git; and __fish_seen_subcommand_from install" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand git; and __fish_seen_subcommand_from install" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand git; and __fish_seen_subcommand_from install" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand git; and __fish_seen_subcommand_from install" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand git; and __fish_seen_subcommand_from install" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand git; and __fish_seen_subcommand_from install" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand git; and __fish_seen_subcommand_from install" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand git; and __fish_seen_subcommand_from uninstall" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand git; and __fish_seen_subcommand_from uninstall" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand git; and __fish_seen_subcommand_from uninstall" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand git; and __fish_seen_subcommand_from uninstall" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand git; and __fish_seen_subcommand_from uninstall" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand git; and __fish_seen_subcommand_from uninstall" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand git; and __fish_seen_subcommand_from uninstall" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand git; and __fish_seen_subcommand_from uninstall" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand git; and __fish_seen_subcommand_from uninstall" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand git; and __fish_seen_subcommand_from uninstall" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand git; and __fish_seen_subcommand_from status" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand git; and __fish_seen_subcommand_from status" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand git; and __fish_seen_subcommand_from status" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand git; and __fish_seen_subcommand_from status" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand git; and __fish_seen_subcommand_from status" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand git; and __fish_seen_subcommand_from status" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand git; and __fish_seen_subcommand_from status" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand git; and __fish_seen_subcommand_from status" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand git; and __fish_seen_subcommand_from status" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand git; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and not __fish_seen_subcommand_from dir stats prune export import" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand cache; and not __fish_seen_subcommand_from dir stats prune export import" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand cache; and not __fish_seen_subcommand_from dir stats prune export import" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand cache; and not __fish_seen_subcommand_from dir stats prune export import" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand cache; and not __fish_seen_subcommand_from dir stats prune export import" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand cache; and not __fish_seen_subcommand_from dir stats prune export import" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and not __fish_seen_subcommand_from dir stats prune export import" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and not __fish_seen_subcommand_from dir stats prune export import" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and not __fish_seen_subcommand_from dir stats prune export import" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and not __fish_seen_subcommand_from dir stats prune export import" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and not __fish_seen_subcommand_from dir stats prune export import" -f -a "dir" -d 'Print the directory of the index'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and not __fish_seen_subcommand_from dir stats prune export import" -f -a "stats" -d 'Print how much the index holds'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and not __fish_seen_subcommand_from dir stats prune export import" -f -a "prune" -d 'Remove what has not been used for long'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and not __fish_seen_subcommand_from dir stats prune export import" -f -a "export" -d 'Write the hashes that were computed here into a file, for another machine'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and not __fish_seen_subcommand_from dir stats prune export import" -f -a "import" -d 'Take in the hashes that another machine exported'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from dir" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from dir" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from dir" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from dir" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from dir" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from dir" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from dir" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from dir" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from dir" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from dir" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from stats" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from stats" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from stats" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from stats" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from stats" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from stats" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from stats" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from stats" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from stats" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from stats" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from prune" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from prune" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from prune" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from prune" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from prune" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from prune" -l all -d 'Remove everything, also what is known of hashes'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from prune" -l imported -d 'Remove the hashes that were imported, and of the rest only what is of no use'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from prune" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from prune" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from prune" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from prune" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from prune" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from export" -l index -d 'The shared index, by its URL; without it that of `TFLOCK_INDEX`. Never one that settings in the work tree name' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from export" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from export" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from export" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from export" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from export" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from export" -l publish -d 'Write them into a shared index, where they are not there'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from export" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from export" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from export" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from export" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from export" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from import" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from import" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from import" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from import" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from import" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from import" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from import" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from import" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from import" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand cache; and __fish_seen_subcommand_from import" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand completions" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand completions" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand completions" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand completions" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand completions" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand completions" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand completions" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand completions" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand completions" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand schema" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand schema" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand schema" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand schema" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand schema" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand schema" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand schema" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand schema" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand schema" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand schema" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand version" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand version" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand version" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand version" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand version" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand version" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand version" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand version" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand version" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand version" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand help" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand help" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand help" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand help" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand help" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand help" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand help" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand help" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand help" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tflock -n "__fish_tflock_using_subcommand man" -l tool -d 'The tool whose rules hold: header, default registry, file names' -r -f -a "auto\t'Lock file\'s header, then its hosts, then .tofu files, then CLI configuration, then terraform'
terraform\t'Terraform'
tofu\t'OpenTofu'"
complete -c tflock -n "__fish_tflock_using_subcommand man" -l trust-file -d 'The trust file, instead of .tflock.trust.hcl at the top of the work tree' -r -F
complete -c tflock -n "__fish_tflock_using_subcommand man" -l format -d 'The format of the result on standard output' -r -f -a "human\t'Text for people'
json\t'One JSON document'
markdown\t'A comment on a pull request, or a step summary'
github\t'Annotations of GitHub Actions'
gitlab\t'A Code Quality report of GitLab'
sarif\t'SARIF 2.1.0, for code scanning'
commit\t'The body of a commit message; for diff only'"
complete -c tflock -n "__fish_tflock_using_subcommand man" -l report -d 'Also write the result to a file in another format; may be repeated' -r -f
complete -c tflock -n "__fish_tflock_using_subcommand man" -l color -d 'Colours' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c tflock -n "__fish_tflock_using_subcommand man" -l offline -d 'Ask no server; exit 4 if the work needs an answer'
complete -c tflock -n "__fish_tflock_using_subcommand man" -l no-cache -d 'Neither read nor write the index of known hashes'
complete -c tflock -n "__fish_tflock_using_subcommand man" -s q -l quiet -d 'Print only what was asked for and what is wrong: no progress, no notes, nothing of a change that went well'
complete -c tflock -n "__fish_tflock_using_subcommand man" -s v -l verbose -d 'Print more: each request, each hash'
complete -c tflock -n "__fish_tflock_using_subcommand man" -s h -l help -d 'Print help (see more with \'--help\')'
