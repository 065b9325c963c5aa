export { createJudge } from './judge.ts';
export type { Judge } from './judge.ts';
