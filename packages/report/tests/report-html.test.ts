import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { ExportReport } from '@countersign/verifier';
import { JSDOM } from 'jsdom';
import { reportHtml } from '../src/index.ts';
import { changeOneByte } from '../src/page/changed-byte.ts';
import { verifiedReport } from '../src/page/report-page.ts';
import { readPack } from '../src/page/read-pack.ts';
import { policiesView, timelineView } from '../src/page/views.ts';

const place = new URL('../../../contracts/vectors/packs/one-session.json', import.meta.url);
const vector = JSON.parse(readFileSync(place, 'utf8')) as { keys: unknown; pack: string[] }; // our own file
const pack = `${vector.pack.join('\n')}\n`;

/** The views create their elements in the global document. Other test files of the worker run without one. */
function openDocument(): void {
  Object.assign(globalThis, { document: new JSDOM('').window.document });
}
afterEach(() => void Reflect.deleteProperty(globalThis, 'document'));

describe('the report', () => {
  it('contains hostile text only as data', () => {
    const hostile = `{"tool":"</script><script>alert(1)</script><!-- <img src=x onerror=alert(1)>"}\u2028\n`;
    const { document } = new JSDOM(reportHtml({ pack: hostile, keys: '</main>' })).window;
    expect(document.querySelectorAll('script')).toHaveLength(2);
    expect(document.querySelectorAll('img')).toHaveLength(0);
    expect(JSON.parse(document.querySelector('#data')?.textContent ?? '')).toEqual({ pack: hostile, keys: '</main>' });
  });

  it('lists receipts and policies, and skips damaged lines', () => {
    const { entries, policies } = readPack(`${pack}{"receipt":[]}\n{\n[1]\n`);
    expect(entries.map(({ kind, tool, verdict }) => [kind, tool, verdict])).toEqual([
      ['decision', 'files.read', 'ALLOW'],
      ['decision', 'mail.send', 'ALLOW'],
      ['', '', ''],
    ]);
    expect(policies.map(({ bundle }) => bundle.includes('countersign/policy.v1'))).toEqual(policies.map(() => true));
  });

  it('counts and marks decisions in shadow separately, since they permit and refuse nothing', () => {
    openDocument();
    const lineOf = (shadow: boolean) =>
      JSON.stringify({ receipt: { payload: { kind: 'decision', verdict: 'DENY', shadow } } });
    const content = readPack(`${lineOf(true)}\n${lineOf(false)}\n${lineOf(true)}\n`);
    const { textContent } = timelineView(content, { verdict: 'VERIFIED' } as ExportReport); // the view reads only the verdict
    expect(textContent).toContain('1 decisions: 0 allowed, 1 denied, 0 escalated. 2 in shadow');
    expect(textContent.match(/Decision \(shadow\)/g)).toHaveLength(2);
  });

  it('shows all characters of a policy', () => {
    openDocument();
    const line = JSON.stringify({ policy: { bundle: { reason: 'ok\u202Enot' } } });
    const text = policiesView(readPack(`${line}\n`)).querySelector('pre')?.textContent;
    expect(text).toBe('{\n  "reason": "ok\\u{202e}not"\n}');
  });

  it('reads keys strictly, so that no member occurs twice', () => {
    const keys = JSON.stringify(vector.keys);
    expect(verifiedReport({ pack, keys }).verdict).toBe('VERIFIED');
    const repeated = keys.replace(
      '"valid_from"',
      '"revoked_at":"2026-01-02T00:00:00.000Z","revoked_at":null,"valid_from"',
    );
    expect(() => verifiedReport({ pack, keys: repeated })).toThrow(/revoked_at/);
  });

  it('can demonstrate a change of exactly one byte of a receipt, and none if there is no receipt', () => {
    const changed = changeOneByte(pack);
    const differing = [...pack].flatMap((byte, at) => (changed?.pack[at] === byte ? [] : [at]));
    expect([differing.length, changed?.pack.length]).toEqual([1, pack.length]);
    expect(changed?.pack.split('\n')[(changed?.line ?? 0) - 1]).not.toBe(pack.split('\n')[(changed?.line ?? 0) - 1]);
    expect(changeOneByte('no receipts')).toBeNull();
  });
});
