"""Completion for bash: one function, and a table of what every command takes."""

_FUNCTION = r"""# Completion of stria for bash; made from the program's own tables of options.
_stria() {
  local word=${COMP_WORDS[COMP_CWORD]} before="" equals="" command=stria words i
  ((COMP_CWORD > 0)) && before=${COMP_WORDS[COMP_CWORD - 1]}
  # Bash takes --name=value apart.
  if [[ $word == "=" ]]; then
    word="" equals="="
  elif [[ $before == "=" ]] && ((COMP_CWORD > 1)); then
    before=${COMP_WORDS[COMP_CWORD - 2]} equals="="
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    [[ " $(_stria_commands "$command") " == *" ${COMP_WORDS[i]} "* ]] || break
    command+=" ${COMP_WORDS[i]}"
  done
  COMPREPLY=()
  if words=$(_stria_values "$command $before") || words=$(_stria_values "$command $before$equals"); then
    if [[ $words == "<file>" ]]; then
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$word")
    else
      mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
    fi
  elif [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_stria_options "$command")" -- "$word")
  else
    words=$(_stria_commands "$command")
    if [[ $words ]]; then
      mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
    else
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
  fi
}
"""


def script(root):
    commands, options, values = [], [], []
    for command in root.walk():
        if command.commands:
            commands.append((command.title, " ".join(below.path[-1] for below in command.commands)))
        options.append((command.title, " ".join(name for option in command.options for name in option.names)))
        for option in command.options:
            if option.takes_value:
                patterns = '" | "'.join(f"{command.title} {name}" for name in option.names)
                values.append((patterns, _words(option)))
            elif option.after_equals:
                patterns = '" | "'.join(f"{command.title} {name}=" for name in option.names)
                values.append((patterns, " ".join(option.after_equals)))
    text = _FUNCTION
    text += _table("_stria_commands", "the commands below one", commands, "")
    text += _table("_stria_options", "a command's options", options, "")
    text += _table("_stria_values", "what an option of a command takes", values, "return 1")
    return text + "\ncomplete -F _stria stria\n"


def _words(option):
    if option.choices:
        return " ".join(option.choices)
    return "" if option.is_number else "<file>"


def _table(name, comment, rows, otherwise):
    lines = "".join(f'    "{key}") echo "{value}" ;;\n' for key, value in rows)
    return f"\n# {comment}\n{name}() {{\n  case $1 in\n{lines}    *) {otherwise or ':'} ;;\n  esac\n}}\n"
