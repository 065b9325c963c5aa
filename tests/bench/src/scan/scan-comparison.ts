import type { Comparison } from '../comparison.ts';
import type { Member } from '../member.ts';
import { ratesOfScan } from './scan-corpus.ts';

/** The scan of tool definitions on its labelled corpus. */
export const scanComparison: Comparison = {
  groups: [['scanMalicious', 'scanHonest']],
  isOpenedOnce: true,
  open: async () => ({
    members: {
      scanMalicious: scanning(async () => (await ratesOfScan()).recall),
      scanHonest: scanning(async () => (await ratesOfScan()).falsePositives),
    },
    databases: [],
  }),
};

/** A share does not depend on time, so each window has the same value. */
function scanning(shareOf: () => Promise<number>): Member {
  return {
    servers: [],
    isWhole: true,
    tryOnce: async () => {},
    measure: async () => {
      const startedAt = performance.now();
      const share = await shareOf();
      const ms = performance.now() - startedAt;
      return { answers: 1, perSecond: 1_000 / ms, p50Ms: ms, p99Ms: ms, cpuMicros: null, generatorBusy: null, share };
    },
  };
}
