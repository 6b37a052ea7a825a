
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'tflock' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'tflock'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'tflock' {
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work in this root module as if started there; may be repeated')
            [CompletionResult]::new('--chdir', '--chdir', [CompletionResultType]::ParameterName, 'Work in this root module as if started there; may be repeated')
            [CompletionResult]::new('--tool', '--tool', [CompletionResultType]::ParameterName, 'The tool whose rules hold: header, default registry, file names')
            [CompletionResult]::new('--trust-file', '--trust-file', [CompletionResultType]::ParameterName, 'The trust file, instead of .tflock.trust.hcl at the top of the work tree')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'The form of the result on standard output')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Colours')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Ask nobody; a question that the work needs is exit code 4')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Neither read nor write the index of known hashes')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('lock', 'lock', [CompletionResultType]::ParameterValue, 'Make the lock file complete')
            [CompletionResult]::new('verify', 'verify', [CompletionResultType]::ParameterValue, 'Check the lock file: the gate for CI')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Explain a rule, a hash or a provider')
            [CompletionResult]::new('providers', 'providers', [CompletionResultType]::ParameterValue, 'Terraform''s name for lock')
            [CompletionResult]::new('fmt', 'fmt', [CompletionResultType]::ParameterValue, 'Write the lock file as the tools write it')
            [CompletionResult]::new('hash', 'hash', [CompletionResultType]::ParameterValue, 'Print the hashes of provider packages')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the entries of the lock file')
            [CompletionResult]::new('why', 'why', [CompletionResultType]::ParameterValue, 'Tell who asks for a provider')
            [CompletionResult]::new('trust', 'trust', [CompletionResultType]::ParameterValue, 'Show or change who may sign which provider')
            [CompletionResult]::new('cache', 'cache', [CompletionResultType]::ParameterValue, 'Show or clear the index of known hashes')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print a completion script for a shell')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Print the manual page')
            break
        }
        'tflock;lock' {
            [CompletionResult]::new('--platform', '--platform', [CompletionResultType]::ParameterName, 'Record hashes for this platform; may be repeated')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'A state file, or the output of `state pull`: providers in it are kept')
            [CompletionResult]::new('--fs-mirror', '--fs-mirror', [CompletionResultType]::ParameterName, 'Take packages from this filesystem mirror only, packed or unpacked')
            [CompletionResult]::new('--net-mirror', '--net-mirror', [CompletionResultType]::ParameterName, 'Take packages from this network mirror only; not supported yet')
            [CompletionResult]::new('--h1', '--h1', [CompletionResultType]::ParameterName, 'Whose h1: hashes are written: also the registry''s, or only those computed here')
            [CompletionResult]::new('--accept-republished', '--accept-republished', [CompletionResultType]::ParameterName, 'Replace the hashes of a release that was published again; may be repeated')
            [CompletionResult]::new('--reason', '--reason', [CompletionResultType]::ParameterName, 'Why; it is kept in the trust file')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work in this root module as if started there; may be repeated')
            [CompletionResult]::new('--chdir', '--chdir', [CompletionResultType]::ParameterName, 'Work in this root module as if started there; may be repeated')
            [CompletionResult]::new('--tool', '--tool', [CompletionResultType]::ParameterName, 'The tool whose rules hold: header, default registry, file names')
            [CompletionResult]::new('--trust-file', '--trust-file', [CompletionResultType]::ParameterName, 'The trust file, instead of .tflock.trust.hcl at the top of the work tree')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'The form of the result on standard output')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Colours')
            [CompletionResult]::new('--check', '--check', [CompletionResultType]::ParameterName, 'Write nothing; exit 1 if the file would change')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Write nothing; print the diff')
            [CompletionResult]::new('--from-lock', '--from-lock', [CompletionResultType]::ParameterName, 'Read no configuration; complete the hashes of the entries that are there')
            [CompletionResult]::new('--prune', '--prune', [CompletionResultType]::ParameterName, 'Remove entries that the configuration does not require')
            [CompletionResult]::new('--no-first-use', '--no-first-use', [CompletionResultType]::ParameterName, 'Refuse providers whose signer is not in the trust file yet, instead of remembering it; for bots')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Ask nobody; a question that the work needs is exit code 4')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Neither read nor write the index of known hashes')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tflock;verify' {
            [CompletionResult]::new('--inconclusive', '--inconclusive', [CompletionResultType]::ParameterName, 'What it means that a registry does not answer')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work in this root module as if started there; may be repeated')
            [CompletionResult]::new('--chdir', '--chdir', [CompletionResultType]::ParameterName, 'Work in this root module as if started there; may be repeated')
            [CompletionResult]::new('--tool', '--tool', [CompletionResultType]::ParameterName, 'The tool whose rules hold: header, default registry, file names')
            [CompletionResult]::new('--trust-file', '--trust-file', [CompletionResultType]::ParameterName, 'The trust file, instead of .tflock.trust.hcl at the top of the work tree')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'The form of the result on standard output')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Colours')
            [CompletionResult]::new('-r', '-r', [CompletionResultType]::ParameterName, 'Check every root module below: every directory with a lock file')
            [CompletionResult]::new('--recursive', '--recursive', [CompletionResultType]::ParameterName, 'Check every root module below: every directory with a lock file')
            [CompletionResult]::new('--installed', '--installed', [CompletionResultType]::ParameterName, 'Also hash what is installed: .terraform/providers and the plugin cache')
            [CompletionResult]::new('--no-download', '--no-download', [CompletionResultType]::ParameterName, 'Download nothing; an h1 that neither index nor registry know stays unknown')
            [CompletionResult]::new('--deep', '--deep', [CompletionResultType]::ParameterName, 'Believe neither the index nor what registries report: compute each recorded h1 from its archive')
            [CompletionResult]::new('--all-platforms', '--all-platforms', [CompletionResultType]::ParameterName, 'With --deep: look at every archive in the checksums')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Ask nobody; a question that the work needs is exit code 4')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Neither read nor write the index of known hashes')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tflock;explain' {
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work in this root module as if started there; may be repeated')
            [CompletionResult]::new('--chdir', '--chdir', [CompletionResultType]::ParameterName, 'Work in this root module as if started there; may be repeated')
            [CompletionResult]::new('--tool', '--tool', [CompletionResultType]::ParameterName, 'The tool whose rules hold: header, default registry, file names')
            [CompletionResult]::new('--trust-file', '--trust-file', [CompletionResultType]::ParameterName, 'The trust file, instead of .tflock.trust.hcl at the top of the work tree')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'The form of the result on standard output')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Colours')
            [CompletionResult]::new('-r', '-r', [CompletionResultType]::ParameterName, 'Look at the lock file of every root module below')
            [CompletionResult]::new('--recursive', '--recursive', [CompletionResultType]::ParameterName, 'Look at the lock file of every root module below')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Ask nobody; a question that the work needs is exit code 4')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Neither read nor write the index of known hashes')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tflock;providers' {
            [CompletionResult]::new('--tool', '--tool', [CompletionResultType]::ParameterName, 'The tool whose rules hold: header, default registry, file names')
            [CompletionResult]::new('--trust-file', '--trust-file', [CompletionResultType]::ParameterName, 'The trust file, instead of .tflock.trust.hcl at the top of the work tree')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'The form of the result on standard output')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Colours')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Ask nobody; a question that the work needs is exit code 4')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Neither read nor write the index of known hashes')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('lock', 'lock', [CompletionResultType]::ParameterValue, 'Make the lock file complete')
            break
        }
        'tflock;providers;lock' {
            [CompletionResult]::new('--platform', '--platform', [CompletionResultType]::ParameterName, 'Record hashes for this platform; may be repeated')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'A state file, or the output of `state pull`: providers in it are kept')
            [CompletionResult]::new('--fs-mirror', '--fs-mirror', [CompletionResultType]::ParameterName, 'Take packages from this filesystem mirror only, packed or unpacked')
            [CompletionResult]::new('--net-mirror', '--net-mirror', [CompletionResultType]::ParameterName, 'Take packages from this network mirror only; not supported yet')
            [CompletionResult]::new('--h1', '--h1', [CompletionResultType]::ParameterName, 'Whose h1: hashes are written: also the registry''s, or only those computed here')
            [CompletionResult]::new('--accept-republished', '--accept-republished', [CompletionResultType]::ParameterName, 'Replace the hashes of a release that was published again; may be repeated')
            [CompletionResult]::new('--reason', '--reason', [CompletionResultType]::ParameterName, 'Why; it is kept in the trust file')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work in this root module as if started there; may be repeated')
            [CompletionResult]::new('--chdir', '--chdir', [CompletionResultType]::ParameterName, 'Work in this root module as if started there; may be repeated')
            [CompletionResult]::new('--tool', '--tool', [CompletionResultType]::ParameterName, 'The tool whose rules hold: header, default registry, file names')
            [CompletionResult]::new('--trust-file', '--trust-file', [CompletionResultType]::ParameterName, 'The trust file, instead of .tflock.trust.hcl at the top of the work tree')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'The form of the result on standard output')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Colours')
            [CompletionResult]::new('--check', '--check', [CompletionResultType]::ParameterName, 'Write nothing; exit 1 if the file would change')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Write nothing; print the diff')
            [CompletionResult]::new('--from-lock', '--from-lock', [CompletionResultType]::ParameterName, 'Read no configuration; complete the hashes of the entries that are there')
            [CompletionResult]::new('--prune', '--prune', [CompletionResultType]::ParameterName, 'Remove entries that the configuration does not require')
            [CompletionResult]::new('--no-first-use', '--no-first-use', [CompletionResultType]::ParameterName, 'Refuse providers whose signer is not in the trust file yet, instead of remembering it; for bots')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Ask nobody; a question that the work needs is exit code 4')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Neither read nor write the index of known hashes')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tflock;fmt' {
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work in this root module as if started there; may be repeated')
            [CompletionResult]::new('--chdir', '--chdir', [CompletionResultType]::ParameterName, 'Work in this root module as if started there; may be repeated')
            [CompletionResult]::new('--tool', '--tool', [CompletionResultType]::ParameterName, 'The tool whose rules hold: header, default registry, file names')
            [CompletionResult]::new('--trust-file', '--trust-file', [CompletionResultType]::ParameterName, 'The trust file, instead of .tflock.trust.hcl at the top of the work tree')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'The form of the result on standard output')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Colours')
            [CompletionResult]::new('--check', '--check', [CompletionResultType]::ParameterName, 'Write nothing; exit 1 if a file would change')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Ask nobody; a question that the work needs is exit code 4')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Neither read nor write the index of known hashes')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tflock;hash' {
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work in this root module as if started there; may be repeated')
            [CompletionResult]::new('--chdir', '--chdir', [CompletionResultType]::ParameterName, 'Work in this root module as if started there; may be repeated')
            [CompletionResult]::new('--tool', '--tool', [CompletionResultType]::ParameterName, 'The tool whose rules hold: header, default registry, file names')
            [CompletionResult]::new('--trust-file', '--trust-file', [CompletionResultType]::ParameterName, 'The trust file, instead of .tflock.trust.hcl at the top of the work tree')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'The form of the result on standard output')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Colours')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Ask nobody; a question that the work needs is exit code 4')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Neither read nor write the index of known hashes')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tflock;list' {
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work in this root module as if started there; may be repeated')
            [CompletionResult]::new('--chdir', '--chdir', [CompletionResultType]::ParameterName, 'Work in this root module as if started there; may be repeated')
            [CompletionResult]::new('--tool', '--tool', [CompletionResultType]::ParameterName, 'The tool whose rules hold: header, default registry, file names')
            [CompletionResult]::new('--trust-file', '--trust-file', [CompletionResultType]::ParameterName, 'The trust file, instead of .tflock.trust.hcl at the top of the work tree')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'The form of the result on standard output')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Colours')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Ask nobody; a question that the work needs is exit code 4')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Neither read nor write the index of known hashes')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tflock;why' {
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work in this root module as if started there; may be repeated')
            [CompletionResult]::new('--chdir', '--chdir', [CompletionResultType]::ParameterName, 'Work in this root module as if started there; may be repeated')
            [CompletionResult]::new('--tool', '--tool', [CompletionResultType]::ParameterName, 'The tool whose rules hold: header, default registry, file names')
            [CompletionResult]::new('--trust-file', '--trust-file', [CompletionResultType]::ParameterName, 'The trust file, instead of .tflock.trust.hcl at the top of the work tree')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'The form of the result on standard output')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Colours')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Ask nobody; a question that the work needs is exit code 4')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Neither read nor write the index of known hashes')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tflock;trust' {
            [CompletionResult]::new('--tool', '--tool', [CompletionResultType]::ParameterName, 'The tool whose rules hold: header, default registry, file names')
            [CompletionResult]::new('--trust-file', '--trust-file', [CompletionResultType]::ParameterName, 'The trust file, instead of .tflock.trust.hcl at the top of the work tree')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'The form of the result on standard output')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Colours')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Ask nobody; a question that the work needs is exit code 4')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Neither read nor write the index of known hashes')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('init', 'init', [CompletionResultType]::ParameterValue, 'Ask for the signer of everything that is locked, and remember it')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Print who is remembered, denied and accepted')
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Accept one more signer')
            [CompletionResult]::new('rotate', 'rotate', [CompletionResultType]::ParameterValue, 'Put another signer in the place of those that are remembered')
            [CompletionResult]::new('deny', 'deny', [CompletionResultType]::ParameterValue, 'Refuse a signing key, whatever it signs')
            [CompletionResult]::new('forget', 'forget', [CompletionResultType]::ParameterValue, 'Forget who signs a provider: the next release is a first use')
            break
        }
        'tflock;trust;init' {
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work in this root module as if started there; may be repeated')
            [CompletionResult]::new('--chdir', '--chdir', [CompletionResultType]::ParameterName, 'Work in this root module as if started there; may be repeated')
            [CompletionResult]::new('--tool', '--tool', [CompletionResultType]::ParameterName, 'The tool whose rules hold: header, default registry, file names')
            [CompletionResult]::new('--trust-file', '--trust-file', [CompletionResultType]::ParameterName, 'The trust file, instead of .tflock.trust.hcl at the top of the work tree')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'The form of the result on standard output')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Colours')
            [CompletionResult]::new('-r', '-r', [CompletionResultType]::ParameterName, 'All root modules below')
            [CompletionResult]::new('--recursive', '--recursive', [CompletionResultType]::ParameterName, 'All root modules below')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Ask nobody; a question that the work needs is exit code 4')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Neither read nor write the index of known hashes')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tflock;trust;list' {
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work in this root module as if started there; may be repeated')
            [CompletionResult]::new('--chdir', '--chdir', [CompletionResultType]::ParameterName, 'Work in this root module as if started there; may be repeated')
            [CompletionResult]::new('--tool', '--tool', [CompletionResultType]::ParameterName, 'The tool whose rules hold: header, default registry, file names')
            [CompletionResult]::new('--trust-file', '--trust-file', [CompletionResultType]::ParameterName, 'The trust file, instead of .tflock.trust.hcl at the top of the work tree')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'The form of the result on standard output')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Colours')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Ask nobody; a question that the work needs is exit code 4')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Neither read nor write the index of known hashes')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tflock;trust;add' {
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work in this root module as if started there; may be repeated')
            [CompletionResult]::new('--chdir', '--chdir', [CompletionResultType]::ParameterName, 'Work in this root module as if started there; may be repeated')
            [CompletionResult]::new('--tool', '--tool', [CompletionResultType]::ParameterName, 'The tool whose rules hold: header, default registry, file names')
            [CompletionResult]::new('--trust-file', '--trust-file', [CompletionResultType]::ParameterName, 'The trust file, instead of .tflock.trust.hcl at the top of the work tree')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'The form of the result on standard output')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Colours')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Ask nobody; a question that the work needs is exit code 4')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Neither read nor write the index of known hashes')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tflock;trust;rotate' {
            [CompletionResult]::new('--reason', '--reason', [CompletionResultType]::ParameterName, 'Why; it is kept in the trust file')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work in this root module as if started there; may be repeated')
            [CompletionResult]::new('--chdir', '--chdir', [CompletionResultType]::ParameterName, 'Work in this root module as if started there; may be repeated')
            [CompletionResult]::new('--tool', '--tool', [CompletionResultType]::ParameterName, 'The tool whose rules hold: header, default registry, file names')
            [CompletionResult]::new('--trust-file', '--trust-file', [CompletionResultType]::ParameterName, 'The trust file, instead of .tflock.trust.hcl at the top of the work tree')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'The form of the result on standard output')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Colours')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Ask nobody; a question that the work needs is exit code 4')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Neither read nor write the index of known hashes')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tflock;trust;deny' {
            [CompletionResult]::new('--reason', '--reason', [CompletionResultType]::ParameterName, 'Why; it is kept in the trust file')
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work in this root module as if started there; may be repeated')
            [CompletionResult]::new('--chdir', '--chdir', [CompletionResultType]::ParameterName, 'Work in this root module as if started there; may be repeated')
            [CompletionResult]::new('--tool', '--tool', [CompletionResultType]::ParameterName, 'The tool whose rules hold: header, default registry, file names')
            [CompletionResult]::new('--trust-file', '--trust-file', [CompletionResultType]::ParameterName, 'The trust file, instead of .tflock.trust.hcl at the top of the work tree')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'The form of the result on standard output')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Colours')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Ask nobody; a question that the work needs is exit code 4')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Neither read nor write the index of known hashes')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tflock;trust;forget' {
            [CompletionResult]::new('-C', '-C ', [CompletionResultType]::ParameterName, 'Work in this root module as if started there; may be repeated')
            [CompletionResult]::new('--chdir', '--chdir', [CompletionResultType]::ParameterName, 'Work in this root module as if started there; may be repeated')
            [CompletionResult]::new('--tool', '--tool', [CompletionResultType]::ParameterName, 'The tool whose rules hold: header, default registry, file names')
            [CompletionResult]::new('--trust-file', '--trust-file', [CompletionResultType]::ParameterName, 'The trust file, instead of .tflock.trust.hcl at the top of the work tree')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'The form of the result on standard output')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Colours')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Ask nobody; a question that the work needs is exit code 4')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Neither read nor write the index of known hashes')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tflock;cache' {
            [CompletionResult]::new('--tool', '--tool', [CompletionResultType]::ParameterName, 'The tool whose rules hold: header, default registry, file names')
            [CompletionResult]::new('--trust-file', '--trust-file', [CompletionResultType]::ParameterName, 'The trust file, instead of .tflock.trust.hcl at the top of the work tree')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'The form of the result on standard output')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Colours')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Ask nobody; a question that the work needs is exit code 4')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Neither read nor write the index of known hashes')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('dir', 'dir', [CompletionResultType]::ParameterValue, 'Print the directory of the index')
            [CompletionResult]::new('stats', 'stats', [CompletionResultType]::ParameterValue, 'Print how much the index holds')
            [CompletionResult]::new('prune', 'prune', [CompletionResultType]::ParameterValue, 'Remove what has not been used for long')
            break
        }
        'tflock;cache;dir' {
            [CompletionResult]::new('--tool', '--tool', [CompletionResultType]::ParameterName, 'The tool whose rules hold: header, default registry, file names')
            [CompletionResult]::new('--trust-file', '--trust-file', [CompletionResultType]::ParameterName, 'The trust file, instead of .tflock.trust.hcl at the top of the work tree')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'The form of the result on standard output')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Colours')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Ask nobody; a question that the work needs is exit code 4')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Neither read nor write the index of known hashes')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tflock;cache;stats' {
            [CompletionResult]::new('--tool', '--tool', [CompletionResultType]::ParameterName, 'The tool whose rules hold: header, default registry, file names')
            [CompletionResult]::new('--trust-file', '--trust-file', [CompletionResultType]::ParameterName, 'The trust file, instead of .tflock.trust.hcl at the top of the work tree')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'The form of the result on standard output')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Colours')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Ask nobody; a question that the work needs is exit code 4')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Neither read nor write the index of known hashes')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tflock;cache;prune' {
            [CompletionResult]::new('--tool', '--tool', [CompletionResultType]::ParameterName, 'The tool whose rules hold: header, default registry, file names')
            [CompletionResult]::new('--trust-file', '--trust-file', [CompletionResultType]::ParameterName, 'The trust file, instead of .tflock.trust.hcl at the top of the work tree')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'The form of the result on standard output')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Colours')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Remove everything, also what is known of hashes')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Ask nobody; a question that the work needs is exit code 4')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Neither read nor write the index of known hashes')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tflock;completions' {
            [CompletionResult]::new('--tool', '--tool', [CompletionResultType]::ParameterName, 'The tool whose rules hold: header, default registry, file names')
            [CompletionResult]::new('--trust-file', '--trust-file', [CompletionResultType]::ParameterName, 'The trust file, instead of .tflock.trust.hcl at the top of the work tree')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'The form of the result on standard output')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Colours')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Ask nobody; a question that the work needs is exit code 4')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Neither read nor write the index of known hashes')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tflock;man' {
            [CompletionResult]::new('--tool', '--tool', [CompletionResultType]::ParameterName, 'The tool whose rules hold: header, default registry, file names')
            [CompletionResult]::new('--trust-file', '--trust-file', [CompletionResultType]::ParameterName, 'The trust file, instead of .tflock.trust.hcl at the top of the work tree')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'The form of the result on standard output')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Colours')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Ask nobody; a question that the work needs is exit code 4')
            [CompletionResult]::new('--no-cache', '--no-cache', [CompletionResultType]::ParameterName, 'Neither read nor write the index of known hashes')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress, no notes')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Tell more: each request, each hash')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
