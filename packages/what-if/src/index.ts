export { isWidened } from './widened.ts';
export { WhatIf } from './what-if.ts';
