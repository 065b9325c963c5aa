import { describe, expect, it } from '@jest/globals';
import { errorCodes, reasonCodes } from '@countersign/contracts';
import { readText } from '../architecture/repository.ts';
import { documentedLimits, valueText } from './documented-limits.ts';

type Row = { limit: string; value: string; reached: string; reason: string };
const statuses: Record<string, number> = Object.fromEntries(
  Object.entries(errorCodes).map(([code, { status }]) => [code, status]),
);
/** Statuses of faults below HTTP. These faults share the error code of an invalid request. */
const parserStatuses = [408, 431];

/** The rows of all tables of the page. */
function rowsOf(page: string): Row[] {
  return [...page.matchAll(/^\| (.+) \|$/gm)]
    .map(([, cells = '']) => cells.split('|').map((cell) => cell.trim()))
    .filter(([limit = '']) => limit !== 'Limit' && !/^-+$/.test(limit))
    .map(([limit = '', value = '', reached = '', reason = '']) => ({ limit, value, reached, reason }));
}

function differences(page: string, read?: (path: string) => string): string[] {
  const documented = new Map(rowsOf(page).map(({ limit, value }) => [limit, value]));
  const expected = new Map(documentedLimits.map((row) => [row.limit, valueText(row, read)]));
  return [...new Set([...documented.keys(), ...expected.keys()])]
    .filter((limit) => documented.get(limit) !== expected.get(limit))
    .map((limit) => `${limit}: the page has ${documented.get(limit)}, the code has ${expected.get(limit)}`);
}

describe('the page on limits', () => {
  const page = readText('docs/limits.md');

  it('shows the value of each constant', () => {
    expect(differences(page)).toEqual([]);
    expect(documentedLimits.length).toBeGreaterThan(100);
  });

  it('is rejected when it differs from a constant', () => {
    const changed = (path: string) => readText(path).replace('passkeysMax = 20;', 'passkeysMax = 21;');
    expect(differences(page, changed)).toEqual(['Passkeys of a person: the page has 20, the code has 21']);
  });

  it('is rejected when it lacks a limit or has an unknown one', () => {
    const renamed = page.replace('| Passkeys of a person ', '| Keys of a person ');
    expect(differences(renamed)).toHaveLength(2);
  });

  it('has a result and a reason for each limit, and each limit once', () => {
    const rows = rowsOf(page);
    expect(rows.filter(({ reached, reason }) => reached === '' || reason === '')).toEqual([]);
    expect(new Set(rows.map(({ limit }) => limit)).size).toBe(rows.length);
  });

  it('has error codes with their right status, and existing reason codes', () => {
    const results = rowsOf(page).map(({ reached }) => reached);
    const named = results.flatMap((text) => [...text.matchAll(/(\d{3}) `([A-Z_]+)`/g)]);
    const wrong = named.filter(
      ([, status, code = '']) => !parserStatuses.includes(Number(status)) && statuses[code] !== Number(status),
    );
    expect(wrong.map(([text]) => text)).toEqual([]);
    const denials = results.flatMap((text) => [...text.matchAll(/denied: `([A-Z_]+)`/g)].map(([, code = '']) => code));
    expect(denials.filter((code) => !(code in reasonCodes))).toEqual([]);
    expect(denials.length).toBeGreaterThan(3);
  });
});
