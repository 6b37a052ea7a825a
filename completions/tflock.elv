set edit:completion:arg-completer[tflock] = { |@words|
    var index = (count $words)
    set index = (- $index 1)

    put (env _CLAP_IFS="\n" _CLAP_COMPLETE_INDEX=(to-string $index) TFLOCK_COMPLETE="elvish" tflock -- $@words) | to-lines
}

