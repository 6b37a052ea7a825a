_tflock() {
    local i cur prev opts cmd
    COMPREPLY=()
    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
        cur="$2"
    else
        cur="${COMP_WORDS[COMP_CWORD]}"
    fi
    prev="$3"
    cmd=""
    opts=""

    for i in "${COMP_WORDS[@]:0:COMP_CWORD}"
    do
        case "${cmd},${i}" in
            ",$1")
                cmd="tflock"
                ;;
            tflock,add)
                cmd="tflock__subcmd__add"
                ;;
            tflock,cache)
                cmd="tflock__subcmd__cache"
                ;;
            tflock,completions)
                cmd="tflock__subcmd__completions"
                ;;
            tflock,diff)
                cmd="tflock__subcmd__diff"
                ;;
            tflock,explain)
                cmd="tflock__subcmd__explain"
                ;;
            tflock,fmt)
                cmd="tflock__subcmd__fmt"
                ;;
            tflock,get)
                cmd="tflock__subcmd__get"
                ;;
            tflock,git)
                cmd="tflock__subcmd__git"
                ;;
            tflock,hash)
                cmd="tflock__subcmd__hash"
                ;;
            tflock,help)
                cmd="tflock__subcmd__help"
                ;;
            tflock,list)
                cmd="tflock__subcmd__list"
                ;;
            tflock,lock)
                cmd="tflock__subcmd__lock"
                ;;
            tflock,man)
                cmd="tflock__subcmd__man"
                ;;
            tflock,merge)
                cmd="tflock__subcmd__merge"
                ;;
            tflock,migrate)
                cmd="tflock__subcmd__migrate"
                ;;
            tflock,mirror)
                cmd="tflock__subcmd__mirror"
                ;;
            tflock,outdated)
                cmd="tflock__subcmd__outdated"
                ;;
            tflock,providers)
                cmd="tflock__subcmd__providers"
                ;;
            tflock,remove)
                cmd="tflock__subcmd__remove"
                ;;
            tflock,schema)
                cmd="tflock__subcmd__schema"
                ;;
            tflock,textconv)
                cmd="tflock__subcmd__textconv"
                ;;
            tflock,trust)
                cmd="tflock__subcmd__trust"
                ;;
            tflock,upgrade)
                cmd="tflock__subcmd__upgrade"
                ;;
            tflock,verify)
                cmd="tflock__subcmd__verify"
                ;;
            tflock,version)
                cmd="tflock__subcmd__version"
                ;;
            tflock,why)
                cmd="tflock__subcmd__why"
                ;;
            tflock__subcmd__cache,dir)
                cmd="tflock__subcmd__cache__subcmd__dir"
                ;;
            tflock__subcmd__cache,export)
                cmd="tflock__subcmd__cache__subcmd__export"
                ;;
            tflock__subcmd__cache,import)
                cmd="tflock__subcmd__cache__subcmd__import"
                ;;
            tflock__subcmd__cache,prune)
                cmd="tflock__subcmd__cache__subcmd__prune"
                ;;
            tflock__subcmd__cache,stats)
                cmd="tflock__subcmd__cache__subcmd__stats"
                ;;
            tflock__subcmd__git,install)
                cmd="tflock__subcmd__git__subcmd__install"
                ;;
            tflock__subcmd__git,status)
                cmd="tflock__subcmd__git__subcmd__status"
                ;;
            tflock__subcmd__git,uninstall)
                cmd="tflock__subcmd__git__subcmd__uninstall"
                ;;
            tflock__subcmd__providers,lock)
                cmd="tflock__subcmd__providers__subcmd__lock"
                ;;
            tflock__subcmd__trust,add)
                cmd="tflock__subcmd__trust__subcmd__add"
                ;;
            tflock__subcmd__trust,deny)
                cmd="tflock__subcmd__trust__subcmd__deny"
                ;;
            tflock__subcmd__trust,forget)
                cmd="tflock__subcmd__trust__subcmd__forget"
                ;;
            tflock__subcmd__trust,init)
                cmd="tflock__subcmd__trust__subcmd__init"
                ;;
            tflock__subcmd__trust,list)
                cmd="tflock__subcmd__trust__subcmd__list"
                ;;
            tflock__subcmd__trust,rotate)
                cmd="tflock__subcmd__trust__subcmd__rotate"
                ;;
            *)
                ;;
        esac
    done

    case "${cmd}" in
        tflock)
            opts="-C -q -v -h -V --chdir --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --help --version lock verify explain providers add remove upgrade outdated migrate mirror get fmt hash list why diff trust merge textconv git cache completions schema version help man"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 1 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --chdir)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                -C)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__add)
            opts="-q -v -C -h --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --name --pin --replace --lock-only --previous --no-previous --platform --dry-run --source --fs-mirror --net-mirror --h1 --no-first-use --modules --var --var-file --chdir --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --name)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --platform)
                    COMPREPLY=($(compgen -W "aix_ppc64 android_arm64 darwin_386 darwin_amd64 darwin_arm64 dragonfly_amd64 freebsd_386 freebsd_amd64 freebsd_arm freebsd_arm64 freebsd_riscv64 illumos_amd64 linux_386 linux_amd64 linux_arm linux_arm64 linux_loong64 linux_mips linux_mips64 linux_mips64le linux_mipsle linux_ppc64 linux_ppc64le linux_riscv64 linux_s390x netbsd_386 netbsd_amd64 netbsd_arm netbsd_arm64 openbsd_386 openbsd_amd64 openbsd_arm openbsd_arm64 solaris_amd64 windows_386 windows_amd64 windows_arm windows_arm64" -- "${cur}"))
                    return 0
                    ;;
                --source)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --fs-mirror)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --net-mirror)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --h1)
                    COMPREPLY=($(compgen -W "registry verified" -- "${cur}"))
                    return 0
                    ;;
                --modules)
                    COMPREPLY=($(compgen -W "auto installed none" -- "${cur}"))
                    return 0
                    ;;
                --var)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --var-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --chdir)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                -C)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__cache)
            opts="-q -v -h --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --help dir stats prune export import"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__cache__subcmd__dir)
            opts="-q -v -h --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__cache__subcmd__export)
            opts="-q -v -h --publish --index --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --index)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__cache__subcmd__import)
            opts="-q -v -h --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__cache__subcmd__prune)
            opts="-q -v -h --all --imported --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__cache__subcmd__stats)
            opts="-q -v -h --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__completions)
            opts="-q -v -h --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --help bash elvish fish powershell zsh"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__diff)
            opts="-q -v -r -C -h --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --tip --recursive --online --no-download --exit-code --source --fs-mirror --net-mirror --chdir --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --source)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --fs-mirror)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --net-mirror)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --chdir)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                -C)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__explain)
            opts="-q -v -r -C -h --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --recursive --chdir --help h1 zh trust settings environment exit-codes lock-syntax lock-not-literal lock-schema lock-address lock-version lock-constraints lock-hashes duplicate-provider lock-modules duplicate-hash not-canonical pins-nothing republished lock-file-altered release-grew first-use mirror-vouches mirror-differs mirror-incomplete mirror-altered unexplained-hash unbound-signature unusual-package-name bad-signature no-signing-key revoked-key signer-changed unsigned-after-signed signer-denied first-use-forbidden expired-key unsigned index-differs wrong-checksum packages-differ platform-missing possibly-from-state init-changes ambiguous-version held-back locked-before platforms-dropped too-young versions-differ explicit-host module-not-installed lock-file-missing unknown-platform-hash entry-missing version-not-allowed constraints-stale platform-uncovered malformed-hash unattested-hash contradicted-hash zh-missing h1-missing version-withdrawn signer-not-pinned host-not-allowed look-alike banned tracked-packages installed-differs hash-replaced hashes-dropped lock-file-removed lock-file-moved policy-weakened pin-changed pin-removed republication-accepted link-changed root-module-moved-out dialect-changed module-changed module-moved module-unlocked module-stale pin-added"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --chdir)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                -C)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__fmt)
            opts="-q -v -r -C -h --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --check --recursive --chdir --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --chdir)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                -C)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__get)
            opts="-q -v -r -C -h --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --recursive --var --var-file --chdir --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --var)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --var-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --chdir)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                -C)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__git)
            opts="-q -v -C -h --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --chdir --help install uninstall status"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --chdir)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                -C)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__git__subcmd__install)
            opts="-q -v -h --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__git__subcmd__status)
            opts="-q -v -h --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__git__subcmd__uninstall)
            opts="-q -v -h --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__hash)
            opts="-q -v -C -h --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --chdir --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --chdir)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                -C)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__help)
            opts="-q -v -h --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --help lock verify explain providers add remove upgrade outdated migrate mirror get fmt hash list why diff trust merge textconv git cache completions schema version help man"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__list)
            opts="-q -v -r -C -h --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --modules --recursive --by --var --var-file --chdir --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --by)
                    COMPREPLY=($(compgen -W "provider root" -- "${cur}"))
                    return 0
                    ;;
                --var)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --var-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --chdir)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                -C)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__lock)
            opts="-q -v -r -C -h --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --platform --dry-run --source --fs-mirror --net-mirror --h1 --no-first-use --check --from-lock --prune --state --accept-republished --reason --lock-modules --create --publish --index --recursive --fail-fast --modules --var --var-file --chdir --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --platform)
                    COMPREPLY=($(compgen -W "aix_ppc64 android_arm64 darwin_386 darwin_amd64 darwin_arm64 dragonfly_amd64 freebsd_386 freebsd_amd64 freebsd_arm freebsd_arm64 freebsd_riscv64 illumos_amd64 linux_386 linux_amd64 linux_arm linux_arm64 linux_loong64 linux_mips linux_mips64 linux_mips64le linux_mipsle linux_ppc64 linux_ppc64le linux_riscv64 linux_s390x netbsd_386 netbsd_amd64 netbsd_arm netbsd_arm64 openbsd_386 openbsd_amd64 openbsd_arm openbsd_arm64 solaris_amd64 windows_386 windows_amd64 windows_arm windows_arm64" -- "${cur}"))
                    return 0
                    ;;
                --source)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --fs-mirror)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --net-mirror)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --h1)
                    COMPREPLY=($(compgen -W "registry verified" -- "${cur}"))
                    return 0
                    ;;
                --state)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --accept-republished)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --reason)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --index)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --modules)
                    COMPREPLY=($(compgen -W "auto installed none" -- "${cur}"))
                    return 0
                    ;;
                --var)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --var-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --chdir)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                -C)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__man)
            opts="-q -v -h --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --help lock verify explain providers add remove upgrade outdated migrate mirror get fmt hash list why diff trust merge textconv git cache completions schema version help man"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__merge)
            opts="-q -v -C -h --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --resolve --chdir --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --resolve)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --chdir)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                -C)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__migrate)
            opts="-q -v -r -C -h --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --to --edit-config --platform --dry-run --source --fs-mirror --net-mirror --h1 --no-first-use --check --recursive --modules --var --var-file --chdir --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --to)
                    COMPREPLY=($(compgen -W "tofu terraform" -- "${cur}"))
                    return 0
                    ;;
                --platform)
                    COMPREPLY=($(compgen -W "aix_ppc64 android_arm64 darwin_386 darwin_amd64 darwin_arm64 dragonfly_amd64 freebsd_386 freebsd_amd64 freebsd_arm freebsd_arm64 freebsd_riscv64 illumos_amd64 linux_386 linux_amd64 linux_arm linux_arm64 linux_loong64 linux_mips linux_mips64 linux_mips64le linux_mipsle linux_ppc64 linux_ppc64le linux_riscv64 linux_s390x netbsd_386 netbsd_amd64 netbsd_arm netbsd_arm64 openbsd_386 openbsd_amd64 openbsd_arm openbsd_arm64 solaris_amd64 windows_386 windows_amd64 windows_arm windows_arm64" -- "${cur}"))
                    return 0
                    ;;
                --source)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --fs-mirror)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --net-mirror)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --h1)
                    COMPREPLY=($(compgen -W "registry verified" -- "${cur}"))
                    return 0
                    ;;
                --modules)
                    COMPREPLY=($(compgen -W "auto installed none" -- "${cur}"))
                    return 0
                    ;;
                --var)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --var-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --chdir)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                -C)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__mirror)
            opts="-q -v -r -C -h --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --platform --check --recursive --source --fs-mirror --net-mirror --chdir --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --platform)
                    COMPREPLY=($(compgen -W "aix_ppc64 android_arm64 darwin_386 darwin_amd64 darwin_arm64 dragonfly_amd64 freebsd_386 freebsd_amd64 freebsd_arm freebsd_arm64 freebsd_riscv64 illumos_amd64 linux_386 linux_amd64 linux_arm linux_arm64 linux_loong64 linux_mips linux_mips64 linux_mips64le linux_mipsle linux_ppc64 linux_ppc64le linux_riscv64 linux_s390x netbsd_386 netbsd_amd64 netbsd_arm netbsd_arm64 openbsd_386 openbsd_amd64 openbsd_arm openbsd_arm64 solaris_amd64 windows_386 windows_amd64 windows_arm windows_arm64" -- "${cur}"))
                    return 0
                    ;;
                --source)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --fs-mirror)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --net-mirror)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --chdir)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                -C)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__outdated)
            opts="-q -v -r -C -h --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --exit-code --modules --source --fs-mirror --net-mirror --var --var-file --recursive --fail-fast --chdir --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --source)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --fs-mirror)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --net-mirror)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --var)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --var-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --chdir)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                -C)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__providers)
            opts="-q -v -h --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --help lock"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__providers__subcmd__lock)
            opts="-r -C -q -v -h --platform --dry-run --source --fs-mirror --net-mirror --h1 --no-first-use --check --from-lock --prune --state --accept-republished --reason --lock-modules --create --publish --index --recursive --fail-fast --modules --var --var-file --chdir --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --platform)
                    COMPREPLY=($(compgen -W "aix_ppc64 android_arm64 darwin_386 darwin_amd64 darwin_arm64 dragonfly_amd64 freebsd_386 freebsd_amd64 freebsd_arm freebsd_arm64 freebsd_riscv64 illumos_amd64 linux_386 linux_amd64 linux_arm linux_arm64 linux_loong64 linux_mips linux_mips64 linux_mips64le linux_mipsle linux_ppc64 linux_ppc64le linux_riscv64 linux_s390x netbsd_386 netbsd_amd64 netbsd_arm netbsd_arm64 openbsd_386 openbsd_amd64 openbsd_arm openbsd_arm64 solaris_amd64 windows_386 windows_amd64 windows_arm windows_arm64" -- "${cur}"))
                    return 0
                    ;;
                --source)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --fs-mirror)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --net-mirror)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --h1)
                    COMPREPLY=($(compgen -W "registry verified" -- "${cur}"))
                    return 0
                    ;;
                --state)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --accept-republished)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --reason)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --index)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --modules)
                    COMPREPLY=($(compgen -W "auto installed none" -- "${cur}"))
                    return 0
                    ;;
                --var)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --var-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --chdir)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                -C)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__remove)
            opts="-q -v -C -h --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --force --lock-only --dry-run --modules --var --var-file --chdir --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --modules)
                    COMPREPLY=($(compgen -W "auto installed none" -- "${cur}"))
                    return 0
                    ;;
                --var)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --var-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --chdir)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                -C)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__schema)
            opts="-q -v -h --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__textconv)
            opts="-q -v -C -h --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --chdir --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --chdir)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                -C)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__trust)
            opts="-q -v -h --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --help init list add rotate deny forget"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__trust__subcmd__add)
            opts="-C -q -v -h --chdir --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --chdir)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                -C)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__trust__subcmd__deny)
            opts="-C -q -v -h --reason --chdir --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --reason)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --chdir)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                -C)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__trust__subcmd__forget)
            opts="-C -q -v -h --chdir --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --chdir)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                -C)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__trust__subcmd__init)
            opts="-r -C -q -v -h --recursive --source --fs-mirror --net-mirror --chdir --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --source)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --fs-mirror)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --net-mirror)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --chdir)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                -C)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__trust__subcmd__list)
            opts="-C -q -v -h --chdir --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --chdir)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                -C)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__trust__subcmd__rotate)
            opts="-C -q -v -h --reason --chdir --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --reason)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --chdir)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                -C)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__upgrade)
            opts="-q -v -r -C -h --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --modules --precise --within --exclude-newer --bump --pre --newest-with-platforms --same-versions --allow-downgrade --platform --dry-run --source --fs-mirror --net-mirror --h1 --no-first-use --check --prune --state --var --var-file --recursive --fail-fast --chdir --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --modules)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --precise)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --within)
                    COMPREPLY=($(compgen -W "patch minor major" -- "${cur}"))
                    return 0
                    ;;
                --exclude-newer)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --platform)
                    COMPREPLY=($(compgen -W "aix_ppc64 android_arm64 darwin_386 darwin_amd64 darwin_arm64 dragonfly_amd64 freebsd_386 freebsd_amd64 freebsd_arm freebsd_arm64 freebsd_riscv64 illumos_amd64 linux_386 linux_amd64 linux_arm linux_arm64 linux_loong64 linux_mips linux_mips64 linux_mips64le linux_mipsle linux_ppc64 linux_ppc64le linux_riscv64 linux_s390x netbsd_386 netbsd_amd64 netbsd_arm netbsd_arm64 openbsd_386 openbsd_amd64 openbsd_arm openbsd_arm64 solaris_amd64 windows_386 windows_amd64 windows_arm windows_arm64" -- "${cur}"))
                    return 0
                    ;;
                --source)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --fs-mirror)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --net-mirror)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --h1)
                    COMPREPLY=($(compgen -W "registry verified" -- "${cur}"))
                    return 0
                    ;;
                --state)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --var)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --var-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --chdir)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                -C)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__verify)
            opts="-q -v -r -C -h --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --recursive --installed --no-download --max-download --deep --all-platforms --base --allow-trust-change --inconclusive --source --fs-mirror --net-mirror --modules --var --var-file --chdir --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --max-download)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --base)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --inconclusive)
                    COMPREPLY=($(compgen -W "fail warn" -- "${cur}"))
                    return 0
                    ;;
                --source)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --fs-mirror)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --net-mirror)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --modules)
                    COMPREPLY=($(compgen -W "auto installed none" -- "${cur}"))
                    return 0
                    ;;
                --var)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --var-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --chdir)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                -C)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__version)
            opts="-q -v -h --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tflock__subcmd__why)
            opts="-q -v -r -C -h --tool --offline --no-cache --trust-file --format --report --color --quiet --verbose --recursive --modules --var --var-file --chdir --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --tool)
                    COMPREPLY=($(compgen -W "auto terraform tofu" -- "${cur}"))
                    return 0
                    ;;
                --trust-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json markdown github gitlab sarif commit" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --modules)
                    COMPREPLY=($(compgen -W "auto installed none" -- "${cur}"))
                    return 0
                    ;;
                --var)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --var-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --chdir)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                -C)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
    esac
}

if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -F _tflock -o nosort -o bashdefault -o default tflock
else
    complete -F _tflock -o bashdefault -o default tflock
fi
