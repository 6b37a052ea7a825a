complete --keep-order --exclusive --command tflock --arguments "(TFLOCK_COMPLETE=fish tflock -- (commandline --current-process --tokenize --cut-at-cursor) (commandline --current-token))"
