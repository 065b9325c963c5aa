export { isWidened } from './widened.ts';
export { Replay } from './replay.ts';
export { WhatIf } from './what-if.ts';
export { PackReplay } from './replay-pack.ts';
