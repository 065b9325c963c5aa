import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { editsOf } from './_page.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

describe('the page on extending the kernel', () => {
  it('changes files that have its lines, and creates the others', () => {
    const page = read('docs/extend.md');
    const edits = editsOf(page, read);
    const isNew = ({ path }: { path: string }) => !existsSync(join(root, path));
    expect(edits.filter((edit) => !isNew(edit)).map(({ path }) => path)).toEqual([
      'contracts/src/governance-kernel/index.ts',
      'services/governance-kernel/src/controls.ts',
      'services/governance-kernel/prisma/schema.prisma',
      'services/governance-kernel/src/operations.ts',
    ]);
    expect(edits.filter(isNew)).toHaveLength(6);
  });
});

describe('an edit', () => {
  const page = (diff: string) => `Text.\n\n\`\`\`diff src/a.ts\n${diff}\`\`\`\n`;
  const textOf = () => 'one\ntwo\nthree\n';

  it('replaces the lines of each hunk', () => {
    expect(editsOf(page(' one\n+more\n@@\n-three\n+four\n'), textOf)).toEqual([
      { path: 'src/a.ts', text: 'one\nmore\ntwo\nfour\n' },
    ]);
  });

  it.each([
    ['are not in the file', ' five\n+six\n', 'one\n'],
    ['are in the file twice', ' one\n+six\n', 'one\none\n'],
  ])('fails when its lines %s', (_, diff, text) => {
    expect(() => editsOf(page(diff), () => text)).toThrow('src/a.ts must contain once');
  });

  it('creates a file from another block', () => {
    expect(editsOf('```ts src/b.ts\nexport {};\n```\n', textOf)).toEqual([{ path: 'src/b.ts', text: 'export {};\n' }]);
  });
});
