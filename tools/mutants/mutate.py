# SPDX-License-Identifier: MIT
"""The mutants of a C file: one change each, in a fixed order, with a name that stays."""
import hashlib
import os
import re

# Operators stand between spaces here (.clang-format), which tells < from the bracket of an include.
SWAPS = [
    ('==', '!='), ('!=', '=='), ('<', '<='), ('<=', '<'), ('>', '>='), ('>=', '>'),
    ('&&', '||'), ('||', '&&'), ('+', '-'), ('-', '+'), ('|', '&'), ('&', '|'),
    ('<<', '>>'), ('>>', '<<'), ('*', '/'), ('/', '*'), ('%', '/'),
    ('|=', '&='), ('&=', '|='), ('+=', '-='), ('-=', '+='),
]
# Orders: what the call becomes.  Fences and __ATOMIC_ names are in orders() itself.
FETCHES = {'fetch_or': '__atomic_fetch_or', 'fetch_and': '__atomic_fetch_and',
           'fetch_add': '__atomic_fetch_add', 'exchange': '__atomic_exchange_n'}
STATEMENT = re.compile(r'^\t+(?!return\b|break\b|continue\b|goto\b|else\b|if\b|while\b|for\b|do\b|'
                       r'case\b|default\b|struct\b|static\b|const\b|enum\b|union\b|__asm__)'
                       r'(?:\(void\) ?)?[\w*(][^;{}]*;\s*$')
DECLARATION = re.compile(r'^\t+(?:const |volatile |unsigned |signed |size_t |uint\w+_t |int\w+_t |bool |'
                         r'char |void |int |long |uintptr_t |mark |enum \w+ )')


def blank(text):
    """The text with comments, strings and characters as spaces, of the same length."""
    def spaces(match):
        return re.sub(r'[^\n]', ' ', match.group(0))
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', spaces, text,
                  flags=re.S)


def closing(line, at):
    """Where the parenthesis that opens at `at` closes; -1: not on this line."""
    depth = 0
    for i in range(at, len(line)):
        depth += (line[i] == '(') - (line[i] == ')')
        if depth == 0:
            return i
    return -1


def orders(code):
    """(from, to, text, kind) of a weaker order."""
    for m in re.finditer(r'__ATOMIC_(ACQUIRE|RELEASE|ACQ_REL|SEQ_CST)\b', code):
        yield m.start(), m.end(), '__ATOMIC_RELAXED'
    for m in re.finditer(r'\b(load|store)_(acquire|release|ordered)(?=\()', code):
        yield m.start(), m.end(), m.group(1) + '_relaxed'
    for m in re.finditer(r'\b(fetch_or|fetch_and|fetch_add|exchange|swap)_(acquire|release|acq_rel|ordered)\(',
                         code):
        end = closing(code, m.end() - 1)
        if end < 0:
            continue
        arguments = code[m.end():end]
        if m.group(1) == 'swap':
            text = f'__atomic_compare_exchange_n({arguments}, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)'
        else:
            text = f'{FETCHES[m.group(1)]}({arguments}, __ATOMIC_RELAXED)'
        yield m.start(), end + 1, text


def changes(code):
    """(from, to, text, kind) of one line, which `code` is without its comments."""
    if code.lstrip().startswith('#'):
        m = re.match(r'#define\s+\w+\s+(?=\S)', code)
        start = m.end() if m else len(code)
    else:
        start = 0
    if STATEMENT.match(code) and not DECLARATION.match(code) and code.count('(') == code.count(')'):
        body = len(code) - len(code.lstrip())
        yield body, len(code.rstrip()), ';', 'statement'
    for at, end, text in orders(code):
        if not code.lstrip().startswith('#'):
            yield at, end, text, 'order'
    for old, new in SWAPS:
        for m in re.finditer(r'(?<=[\s)])' + re.escape(old) + r'(?=\s|$)', code):
            if m.start() >= start:
                yield m.start(), m.end(), new, 'operator'
    for old, new in (('++', '--'), ('--', '++')):
        for m in re.finditer(re.escape(old), code):
            if m.start() >= start:
                yield m.start(), m.end(), new, 'operator'
    for m in re.finditer(r'(?<![\w)\]])[!~](?=[\w(*&])', code):
        if m.start() >= start:
            yield m.start(), m.end(), '', 'operator'
    for m in re.finditer(r'(?<![\w.])(\d+)(?:u|ul|ull)?\b(?![\w.])', code):
        if m.start() >= start and 'include' not in code:
            yield m.start(1), m.end(1), str(int(m.group(1), 10) + 1), 'constant'
    for m in re.finditer(r'\b(true|false)\b', code):
        if m.start() >= start:
            yield m.start(), m.end(), 'false' if m.group(1) == 'true' else 'true', 'constant'


class Mutant:
    def __init__(self, path, function, number, line, at, end, text, kind, again):
        self.path, self.function, self.number, self.kind = path, function, number, kind
        old = line[at:end]
        self.line = line[:at] + text + line[end:]
        # Where the file stands says nothing: it may move.  In a line of 100 columns the code is
        # long enough to find the place again.
        said = f'{os.path.basename(path)}: {line.strip()} -> {old!r} at {at} becomes {text!r}, {again}'
        self.name = hashlib.sha1(said.encode()).hexdigest()[:10]
        self.said = f'`{line.strip()}`: `{old.strip()}` -> `{text}`' if kind != 'statement' \
            else f'`{line.strip()}` left out'


def mutants(path):
    with open(path, encoding='utf-8') as file:
        text = file.read()
    lines, codes, seen, function = text.split('\n'), blank(text).split('\n'), {}, '-'
    for number, (line, code) in enumerate(zip(lines, codes)):
        if m := re.match(r'(?!#)[A-Za-z_].*?(\w+)\(', re.sub(r'__attribute__\(\(.*?\)\)+ ?', '', code)):
            function = m.group(1)
        elif m := re.match(r'#define (\w+)', code):
            function = m.group(1)
        if '_Static_assert' in code:
            continue
        for at, end, new, kind in changes(code):
            key = (line, at, new)
            seen[key] = seen.get(key, 0) + 1
            yield Mutant(path, function, number, line, at, end, new, kind, seen[key])
