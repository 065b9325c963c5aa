import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { root } from '../architecture/repository.ts';

/** A vector with `policy` also checks witnesses by that policy. */
type Vector = { export: string[]; keys: unknown; policy?: string };

describe('the packed commands', () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-packed-'));
  const run = (command: string, ...args: string[]) =>
    spawnSync(join(folder, 'node_modules/.bin', command), args, { cwd: folder, encoding: 'utf8' });
  const verified = (command: string[], name: string) => {
    const vector = readVector(name);
    writeFileSync(join(folder, 'export.ndjson'), `${vector.export.join('\n')}\n`);
    writeFileSync(join(folder, 'keys.json'), JSON.stringify(vector.keys));
    const [program = '', ...args] = command;
    return run(program, ...args, 'export.ndjson', '--keys', 'keys.json').status;
  };

  beforeAll(() => {
    const packed = execFileSync('node', [join(root, 'infra/packages/pack.mjs')], { cwd: root, encoding: 'utf8' });
    const files = packed
      .trim()
      .split('\n')
      .map((file) => join(root, file));
    expect(files).toHaveLength(2);
    const options = ['--no-audit', '--no-fund', '--prefer-offline', '--omit=dev', '--ignore-scripts'];
    execFileSync('npm', ['install', ...options, ...files], { cwd: folder, stdio: 'pipe' });
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('print their help in a folder without other files', () => {
    expect(run('countersign-verify', '--help').stdout).toMatch(/^Usage: countersign-verify/);
    expect(run('countersign', '--help').stdout).toMatch(/^Usage: countersign \[options\]/);
    expect(run('countersign', 'verify', '--help').stdout).toMatch(/^Usage: countersign-verify/);
  });

  it.each([
    ['valid', 0],
    ['invalid', 1],
    ['incomplete', 3],
    ['undecidable', 4],
  ])('for a vector that is %s, end with the status %d', (kind, status) => {
    const name = readdirSync(join(vectors, kind))
      .sort()
      .map((file) => `${kind}/${file}`)
      .find((file) => readVector(file).policy === undefined);
    if (name === undefined) throw new Error(`No vector is ${kind} without a policy`);
    expect(verified(['countersign-verify'], name)).toBe(status);
    // Both commands have the same verifier, and each start takes half a second.
    if (status <= 1) expect(verified(['countersign', 'verify'], name)).toBe(status);
  });

  it('write the report of a pack as one page', () => {
    const pack = JSON.parse(readFileSync(join(root, 'contracts/vectors/packs/one-session.json'), 'utf8')) as {
      pack: string[];
      keys: unknown;
    }; // our own file
    writeFileSync(join(folder, 'pack.ndjson'), `${pack.pack.join('\n')}\n`);
    writeFileSync(join(folder, 'keys.json'), JSON.stringify(pack.keys));
    const ended = run(
      'countersign',
      'evidence',
      'report',
      'pack.ndjson',
      '--keys',
      'keys.json',
      '--file',
      'report.html',
    );
    expect(ended).toMatchObject({ status: 0, stderr: 'VERIFIED: report.html\n' });
    expect(readFileSync(join(folder, 'report.html'), 'utf8')).toContain('Evidence report');
  });

  it.each(['cli', 'verifier'])('have a licence and a README in %s, and no file of the workspace', (name) => {
    const place = join(folder, 'node_modules/@countersign', name);
    const files = readdirSync(place, { recursive: true, encoding: 'utf8' }).filter(
      (file) => !file.startsWith('node_modules'),
    );
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'package.json']));
    expect(files.filter((file) => /\.map$|\.ts$/.test(file))).toEqual([]);
    const manifest = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')) as object; // npm has parsed it
    expect(manifest).not.toHaveProperty('devDependencies');
    expect(JSON.stringify(manifest)).not.toMatch(/workspace:|"private"/);
  });
});

const vectors = join(root, 'contracts/vectors/receipts');

function readVector(name: string): Vector {
  return JSON.parse(readFileSync(join(vectors, name), 'utf8')) as Vector; // our own file
}
