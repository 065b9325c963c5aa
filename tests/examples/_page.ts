/** A file that a page creates, or changes an existing file to. */
export type Edited = { path: string; text: string };

/**
 * The files of the code blocks of a page whose fence names a path, in the order of the page. A `diff` block changes the
 * current text of its file. Throws for a hunk whose lines are not exactly once in the file.
 */
export function editsOf(page: string, textOf: (path: string) => string): Edited[] {
  return [...page.matchAll(/^```(\w+) (\S+\/\S+)\n([\s\S]*?)^```$/gm)].map(
    ([, language = '', path = '', block = '']) => ({
      path,
      text: language === 'diff' ? applied(block, { path, text: textOf(path) }) : block,
    }),
  );
}

function applied(diff: string, { path, text }: Edited): string {
  return diff.split(/^@@\n/m).reduce((current, hunk) => {
    const lines = hunk.trimEnd().split('\n');
    const [before, after] = ['+', '-'].map((sign) =>
      lines
        .filter((line) => !line.startsWith(sign))
        .map((line) => `${line.slice(1)}\n`)
        .join(''),
    );
    const [head = '', tail, ...others] = current.split(before ?? '');
    if (tail === undefined || others.length > 0) throw new Error(`${path} must contain once:\n${before ?? ''}`);
    return `${head}${after ?? ''}${tail}`;
  }, text);
}
