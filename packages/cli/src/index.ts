export { runCountersign } from './countersign.ts';
