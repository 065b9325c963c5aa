import { visibleText } from '@countersign/contracts';

type Options = Record<string, string | number | undefined>;

/**
 * A command for a POSIX shell, each value as one word of it. Null: a value has characters that a terminal would act on when they are pasted
 * into it, quoted or not.
 */
export function commandOf(workspaceId: string, words: string, options: Options): string | null {
  const given = Object.entries(options).flatMap(([name, value]) =>
    value === undefined ? [] : [{ name, text: String(value) }],
  );
  if (given.some(({ text }) => visibleText(text) !== text)) return null;
  const named = given.map(({ name, text }) => `--${name}=${quoted(text)}`);
  return [`COUNTERSIGN_WORKSPACE=${quoted(workspaceId)} countersign ${words}`, ...named].join(' ');
}

const plainWord = /^[\w@%+=:,./-]+$/;

function quoted(text: string): string {
  return plainWord.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
