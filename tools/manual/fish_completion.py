"""Completion for fish: a line for each command and option."""

_FUNCTION = """# Completion of stria for fish; made from the program's own tables of options.

# True when the command line begins with these words; with -e, when it has no others yet
# but options.
function __stria_at
    argparse --stop-nonopt e -- $argv
    set -l words (commandline -opc)[2..]
    set -l words (string match -v -- '-*' $words)
    test (count $words) -ge (count $argv); or return 1
    set -q _flag_e; and test (count $words) -ne (count $argv); and return 1
    for i in (seq (count $argv))
        test $words[$i] = $argv[$i]; or return 1
    end
end

"""


def script(root):
    text = _FUNCTION
    for command in root.walk():
        path = " ".join(command.path[1:])
        here = f'"__stria_at {path}"'
        if command.commands:
            text += f'complete -c stria -f -n "__stria_at -e {path}"\n'
        for below in command.commands:
            text += f'complete -c stria -f -n "__stria_at -e {path}" -a {below.path[-1]} -d {_quoted(below.help)}\n'
        if command.commands:
            here = f'"__stria_at -e {path}"'
        for option in command.options:
            text += f"complete -c stria -n {here}{_option(option)} -d {_quoted(option.help)}\n"
    return text


def _option(option):
    words = "".join(f" -l {name[2:]}" if name.startswith("--") else f" -s {name[1:]}" for name in option.names)
    if option.choices:
        return f"{words} -x -a {_quoted(' '.join(option.choices))}"
    if option.after_equals:
        return f"{words} -a {_quoted(' '.join(option.after_equals))}"
    if not option.takes_value:
        return words
    return words + (" -x" if option.is_number else " -r -F")


def _quoted(words):
    return "'" + words.replace("\\", "\\\\").replace("'", "\\'") + "'"
