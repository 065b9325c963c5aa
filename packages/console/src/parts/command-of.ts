import { visibleText } from '@countersign/contracts';

type Options = Record<string, string | number | undefined>;

/**
 * A command for a POSIX shell, with each value as one word. `null` when a value contains characters that a terminal
 * acts on when they are pasted, even in quotes.
 */
export function commandOf(workspaceId: string, words: string, options: Options): string | null {
  const values = Object.entries(options).flatMap(([name, value]) =>
    value === undefined ? [] : [{ name, text: String(value) }],
  );
  if (values.some(({ text }) => visibleText(text) !== text)) return null;
  const named = values.map(({ name, text }) => `--${name}=${quoted(text)}`);
  return [`COUNTERSIGN_WORKSPACE=${quoted(workspaceId)} countersign ${words}`, ...named].join(' ');
}

const plainWord = /^[\w@%+=:,./-]+$/;

function quoted(text: string): string {
  return plainWord.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
