/** The commands of a document, block by block, unchanged. */
export class Walk {
  readonly #name: string;
  readonly #blocks: { text: string; isTyped: boolean }[];

  constructor(name: string, text: string) {
    this.#name = name;
    this.#blocks = [...text.matchAll(/^( *)```(?:sh|js)\n(.*?)^ *```/gms)].map(([, indent = '', commands = '']) => ({
      text: commands.replaceAll(new RegExp(`^${indent}`, 'gm'), '').trim(),
      isTyped: false,
    }));
  }

  /** The next untyped block with these words, since readers go from top to bottom. */
  blockWith(words: string): string {
    const block = this.#blocks.find(({ text, isTyped }) => !isTyped && text.includes(words));
    if (block === undefined) throw new Error(`No block of ${this.#name} that is left has ${words}`);
    block.isTyped = true;
    return block.text;
  }

  /** The blocks that were not typed. */
  get left(): string[] {
    return this.#blocks.filter(({ isTyped }) => !isTyped).map(({ text }) => text);
  }
}

/** The JSON answers in the output. */
export function answersIn(printed: string): unknown[] {
  return printed
    .split(/\n|(?<=\})(?=\{)/)
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as unknown);
}
