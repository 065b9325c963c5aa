import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { runCli } from '../src/run-cli.ts';
import { forTerminal, jsonForTerminal } from '../src/index.ts';
import { testKeys } from './chain-fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'countersign-terminal-'));
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

async function printed(...argv: string[]): Promise<string> {
  let output = '';
  async function* nothing() {
    // The command reads a file, so the standard input is empty.
  }
  await runCli(argv, { write: (text) => (output += text), stdin: nothing() });
  return output;
}

const unseen: [string, string][] = [
  ['a line feed', '\n'],
  ['an escape character', '\u001b'],
  ['the last ASCII control character', '\u007f'],
  ['the control sequence introducer of one byte', '\u009b'],
  ['a direction override', '\u202e'],
  ['a direction isolate', '\u2066'],
  ['a line separator', '\u2028'],
  ['a paragraph separator', '\u2029'],
  ['a zero-width space', '\u200b'],
  ['a soft hyphen', '\u00ad'],
  ['an invisible filler', '\u3164'],
  ['a variation selector', '\ufe0f'],
  ['a variation selector of another plane', '\u{e0100}'],
  ['a tag character', '\u{e0041}'],
  ['a private-use character', '\ue000'],
  ['an unassigned character', '\ufdd0'],
  ['a lone surrogate', '\ud800'],
  ['the blank Braille pattern', '\u2800'],
];

describe('a text for a terminal', () => {
  it.each(unseen)('shows %s as an escape, alone and in JSON', (_name, character) => {
    const number = character.codePointAt(0)?.toString(16);
    expect(forTerminal(`a${character}b`)).toBe(`a\\u{${number}}b`);
    const json = jsonForTerminal({ [character]: character });
    expect(json).toMatch(/^[\x20-\x7e]+$/);
    expect(JSON.parse(json)).toEqual({ [character]: character });
  });

  it('leaves letters of all scripts unchanged', () => {
    const plain = 'plain — 名前 é עברית 💶';
    expect([forTerminal(plain), jsonForTerminal(plain)]).toEqual([plain, `"${plain}"`]);
  });
});

describe('the output of the command', () => {
  const hostile = unseen.map(([, character]) => character).join('x');
  const unknown = JSON.stringify({ [hostile]: 0 });
  const header = JSON.stringify({
    format: 'countersign/audit-export.v1',
    workspaceId: 'wsp_01ARZ3NDEKTSV4RRFFQ69G5FAV',
    exportedAt: '2026-11-22T10:00:00.000Z',
  });
  const keys = () => write('keys.json', JSON.stringify(testKeys()));

  it.each<[string, () => string[]]>([
    ['an audit log', () => ['--audit', write('audit.ndjson', `${header}\n${unknown}`)]],
    ['a conformance proof', () => ['--conformance', write('proof.json', unknown), '--keys', keys()]],
    ['an export', () => [write('export.ndjson', unknown), '--keys', keys()]],
  ])('contains no control characters for a hostile name in %s', async (_what, argv) => {
    for (const option of [[], ['--json']]) {
      const text = await printed(...argv(), ...option);
      expect(text.replaceAll('\n', '')).toMatch(/^[\x20-\x7e]+$/);
      expect(text).toContain('202e');
    }
  });

  it('contains no control characters for an invalid key set', async () => {
    const file = write('export.ndjson', header);
    const unread = write('hostile-keys.json', `{"a\u202eb":0,"a\u202eb":0}`);
    expect(await printed(file, '--keys', unread)).toMatch(/^[\x20-\x7e]*\\u\{202e\}[\x20-\x7e]*\n$/);
  });
});
