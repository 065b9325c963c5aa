import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { editsOf } from './_page.ts';

const root = join(import.meta.dirname, '../..');
const copy = mkdtempSync(join(tmpdir(), 'countersign-extended-'));
afterAll(() => rmSync(copy, { recursive: true, force: true }));

it('the page on extending the kernel compiles, and its test passes', () => {
  copySources();
  const read = (path: string) => readFileSync(join(copy, path), 'utf8');
  const page = read('docs/extend.md');
  for (const { path, text } of editsOf(page, read)) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    writeFileSync(join(copy, path), text);
  }
  const commands = /```sh\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
  const run = spawnSync('sh', ['-ec', commands], { cwd: copy, encoding: 'utf8', maxBuffer: 2 ** 28 });
  const output = `${run.stderr}${run.stdout}`;
  expect({ status: run.status, ...(run.status !== 0 && { output }) }).toEqual({ status: 0 });
  expect(output).toContain('tool_owners/migration.sql');
  expect(output.trimEnd().split('\n').at(-1)).toBe('1 passed, 0 failed');
});

/** The copy contains only sources. It installs and builds on its own, since an install changes linked dependencies. */
function copySources(): void {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
  for (const path of listed.toString().split('\0').filter(Boolean))
    cpSync(join(root, path), join(copy, path), { verbatimSymlinks: true });
}
