"""Completion for zsh: a function for each command, by _arguments."""


def script(root):
    text = "#compdef stria\n# Completion of stria for zsh; made from the program's own tables of options.\n"
    for command in root.walk():
        text += _group(command) if command.commands else _leaf(command)
    return text + '\n_stria "$@"\n'


def _name(command):
    return "_" + "_".join(command.path)


def _group(command):
    described = "".join(f"    {_quoted(c.path[-1] + ':' + c.help)}\n" for c in command.commands)
    cases = "".join(f"        {c.path[-1]}) {_name(c)} ;;\n" for c in command.commands)
    return f"""
{_name(command)}() {{
  local curcontext=$curcontext state line
  local -a commands=(
{described}  )
  _arguments -C {_options(command)} '1: :->command' '*:: :->rest'
  case $state in
    command) _describe command commands ;;
    rest)
      case $line[1] in
{cases}      esac
      ;;
  esac
}}
"""


def _leaf(command):
    places = ""
    for number, argument in enumerate(command.arguments, start=1):
        place = "*" if argument.several else str(number)
        places += f" '{place}:{argument.place}:_files'"
    return f"\n{_name(command)}() {{\n  _arguments {_options(command)}{places}\n}}\n"


def _options(command):
    return " ".join(_quoted(form) for option in command.options for form in _forms(option))


def _forms(option):
    help_text = option.help.replace("[", "(").replace("]", ")").replace(":", "\\:")
    others = f"({' '.join(option.names)})" if len(option.names) > 1 and not option.several else ""
    for name in option.names:
        stars = "*" if option.several else others
        equals = "=" if option.takes_value and name.startswith("--") else "=-" if option.after_equals else ""
        yield f"{stars}{name}{equals}[{help_text}]{_value(option)}"


def _value(option):
    if option.after_equals:
        return f"::value:({' '.join(option.after_equals)})".replace(":)", "\\:)").replace(": ", "\\: ")
    if not option.takes_value:
        return ""
    what = option.value.lower()
    if option.choices:
        return f":{what}:({' '.join(option.choices)})"
    return f":{what}: " if option.is_number else f":{what}:_files"


def _quoted(words):
    return "'" + words.replace("'", "'\\''") + "'"
