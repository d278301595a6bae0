/** The completion of `kiln` for each shell. All call `kiln __complete`, so a new command needs no new script. */
export const scripts: Readonly<Record<string, string>> = {
  bash: `# kiln for bash. In ~/.bashrc: source <(kiln completion bash)
_kiln() {
  local line word index before rest=$COMP_LINE typed=\${COMP_WORDS[COMP_CWORD]} words=() lines=()
  # bash also splits words at : and =. A word of kiln begins after a blank.
  for word in "\${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
    if [[ \${#words[@]} == 0 || $rest == [[:blank:]]* ]]; then words+=("$word"); else words[-1]+=$word; fi
    rest=\${rest#"\${rest%%[![:blank:]]*}"}
    rest=\${rest#"$word"}
  done
  [[ $typed == [:=] ]] && typed=
  before=\${words[-1]%"$typed"}
  for index in "\${!words[@]}"; do
    # What is typed may have quotes; only the shell knows how to read them.
    word=\${words[index]#[\\"\\']}
    word=\${word%[\\"\\']}
    words[index]=\${word//\\\\/}
  done
  mapfile -t lines < <(kiln __complete -- "\${words[@]:1}" 2>/dev/null)
  COMPREPLY=()
  if [[ \${lines[0]} == :files ]]; then
    compopt -o default
    return
  fi
  for line in "\${lines[@]}"; do
    word=\${line%%$'\\t'*}
    [[ $word == *= ]] && compopt -o nospace
    [[ $typed == [\\"\\']* ]] || word=$(printf %q "$word")
    word=\${word//\\\\,/,}
    COMPREPLY+=("\${word#"$before"}")
  done
}
complete -F _kiln kiln
`,
  zsh: `#compdef kiln
# kiln for zsh. In ~/.zshrc, after compinit: source <(kiln completion zsh)
_kiln() {
  local line name
  local -a lines names settings
  lines=("\${(@f)$(kiln __complete -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)}")
  if [[ $lines[1] == :files ]]; then
    _files
    return
  fi
  for line in $lines; do
    name=\${\${line%%$'\\t'*}//:/\\\\:}
    if [[ $line == *= ]]; then
      settings+=("$line")
    elif [[ $line == *$'\\t'* ]]; then
      names+=("$name:\${line#*$'\\t'}")
    else
      names+=("$name")
    fi
  done
  (( $#settings )) && compadd -S '' -- $settings
  (( $#names )) && _describe kiln names
}
compdef _kiln kiln
`,
  fish: `# kiln for fish. In ~/.config/fish/config.fish: kiln completion fish | source
function __kiln_complete
    set -l words (commandline -opc) (string unescape -- (commandline -ct))
    set -l lines (kiln __complete -- $words[2..-1] 2>/dev/null)
    if test "$lines[1]" = :files
        __fish_complete_path (commandline -ct)
    else
        printf '%s\\n' $lines
    end
end
complete -c kiln -f -a '(__kiln_complete)'
`,
};
