import { describe, expect, it } from '@jest/globals';
import type { Measured } from '../src/measured.ts';
import type { Ratio } from '../src/ratios.ts';
import {
  boundBy,
  changeTable,
  checkText,
  machineText,
  measurementTable,
  mediansOf,
  profileText,
  ratioTable,
  type MemberReport,
} from '../src/report.ts';
import { resultOf } from '../src/result.ts';

const measured: Measured = {
  answers: 100,
  perSecond: 2_000,
  p50Ms: 1,
  p99Ms: 2,
  cpuMicros: 250,
  generatorBusy: 0.1,
};
const warm = { windows: 4, isStable: true };
const cold = { windows: 10, isStable: false };
const member: MemberReport = { ...measured, warmUps: [warm, cold] };
const members = new Map([
  ['kernel', member],
  ['floor', { ...member, cpuMicros: null, generatorBusy: null, warmUps: [null] }],
]);
const missed: Ratio = {
  name: 'kernel_over_floor',
  subject: 'kernel',
  goal: { bound: 'atLeast', value: 0.9 },
  value: 0.45678,
  range: [0.4, 0.5],
  isUnstable: false,
  isReached: false,
};
const reached: Ratio = { ...missed, name: 'reached', value: 0.95, isReached: true };
const ungoaled: Ratio = { ...missed, name: 'without_goal', goal: null, isReached: null };
const unstable: Ratio = { ...missed, name: 'unstable', value: null, range: null, isUnstable: true, isReached: null };
const unknown: Ratio = { ...missed, name: 'unknown', value: null, range: null, isReached: null };
const machine = {
  ...{ cpu: 'x', cores: 2, memory_gib: 8, node: 'v20', postgres: '15', measured_at: '2026-01-01' },
  ...{ signature_micros: 33.25, sha256_of_1_kib_micros: 2 },
};
const runCheck = { runs: 1_000, steps: 3_000, receipts: 7_000, toolCalls: 1_000 };
const profile = { idleShare: 0.25, heaviest: [{ name: 'seal', place: 'seal.js:4', share: 0.5 }] };

describe('the report', () => {
  it('lists every ratio with its goal and whether it is reached', () => {
    const lines = ratioTable([missed, reached, ungoaled, unknown, unstable], members).split('\n');
    expect(lines[1]).toMatch(/^kernel_over_floor +0\.46 +0\.40–0\.50 +≥ 0\.9 +NOT REACHED /);
    expect(lines[2]).toMatch(/^reached +0\.95 .* reached /);
    expect(lines[3]).toMatch(/^without_goal +0\.46 +0\.40–0\.50 +none {2,}waiting/);
    expect(lines[4]).toMatch(/^unknown +– +– +≥ 0\.9 +not known /);
    expect(lines[5]).toMatch(/^unstable +not stable +– +≥ 0\.9 +not known /);
  });

  it('shows for each member whether it was warm, and a dash for unknown figures', () => {
    const lines = measurementTable(members).split('\n');
    expect(lines[1]).toMatch(/^kernel +2,000 +1\.00 +2\.00 +250 +10 % +4 not stable$/);
    expect(lines[2]).toMatch(/^floor .* – +– +–$/);
  });

  it('names what limits a rate: a busy kernel, else a busy generator, else neither', () => {
    expect(boundBy({ ...measured, perSecond: 3_900 })).toContain('its own CPU: 98 %');
    expect(boundBy({ ...measured, generatorBusy: 0.95 })).toContain('the load generator: 95 %');
    expect(boundBy(measured)).toContain('waiting');
    expect(boundBy({ ...measured, cpuMicros: null })).toBe('not known on this platform');
  });

  it('has the median of each figure, and none for a figure that a window lacks', () => {
    const windows = [1, 9, 2].map((factor) => ({ ...measured, perSecond: factor, cpuMicros: factor }));
    expect(mediansOf(windows)).toMatchObject({ perSecond: 2, cpuMicros: 2 });
    expect(mediansOf([...windows, { ...measured, cpuMicros: null }]).cpuMicros).toBeNull();
  });

  it('has the same content as JSON, with a profile only for a missed goal', () => {
    const pace = {
      openings: 1,
      rounds: 1,
      windowSeconds: 1,
      warmUpWindowSeconds: 1,
      warmUpWindowsMax: 1,
      profileSeconds: 1,
      queuedRuns: 1,
    };
    const profiles = new Map([['kernel', profile]]);
    const ratios = [missed, reached, ungoaled, unknown];
    const runChecks = [runCheck];
    const result = resultOf({ machine, seconds: 1, pace, members, ratios, profiles, checks: [], runChecks });
    expect(result.ratios).toEqual({ kernel_over_floor: 0.457, reached: 0.95, without_goal: 0.457, unknown: null });
    expect(result.goals['kernel_over_floor']).toMatchObject({ goal: 0.9, bound: 'atLeast', reached: false, profile });
    expect(result.goals['reached']).toMatchObject({ reached: true, profile: null });
    expect(result.goals['without_goal']).toMatchObject({ goal: null, bound: null, reached: null, profile: null });
    expect(result.runs).toEqual([runCheck]);
    expect(JSON.parse(JSON.stringify(result))).toEqual(result);
  });

  it('states how many receipts and runs were compared with the answers', () => {
    const checks = [
      { receipts: 10, chains: 1, verified: 4 },
      { receipts: 5, chains: 1, verified: 5 },
    ];
    expect(checkText({ checks, runChecks: [] })).toMatch(/^2 ledgers checked: 15 receipts,.* 9 signatures verified\.$/);
    expect(checkText({ checks, runChecks: [runCheck] })).toContain(
      '1000 queued runs checked: none lost, none done twice; 3000 steps',
    );
  });

  it('states the machine and the cost of its primitives', () => {
    expect(machineText(machine)).toBe(
      'x, 2 cores, Node.js v20. One Ed25519 signature takes 33.3 µs, SHA-256 of 1 KiB 2.0 µs.',
    );
  });

  it('states of a change whether it can be told from none', () => {
    const lines = changeTable([
      { load: 'evaluate', cpu: { value: 0.9, visible: 0.05 }, rate: { value: 1.04, visible: 0.05 } },
    ]).split('\n');
    expect(lines[1]).toMatch(/^evaluate: CPU of the kernel per answer +0\.900 +5\.0 % +changed$/);
    expect(lines[2]).toMatch(/^evaluate: answers per second +1\.040 +5\.0 % +no visible change$/);
    expect(changeTable([{ load: 'chat', cpu: null, rate: { value: 1, visible: 0 } }])).not.toContain('CPU');
  });

  it('prints a profile with names, places and shares', () => {
    expect(profileText('kernel', profile)).toMatch(/^Profile of kernel: idle 25 %.*\n {2}50 % +seal +seal\.js:4$/);
  });
});
