import { ReasonCode } from '@countersign/contracts';
import { reasonSays } from '../parts/reason-says.ts';

/** Actions whose identifiers do not read as words. */
const named: Readonly<Record<string, string>> = {
  'ops.freeze': 'Freeze',
  'ops.throttle': 'Throttle',
  'ops.quarantine': 'Quarantine',
  'ops.open': 'Resume',
};

/** The name of an action as words: `run.awaiting_approval` is "Run awaiting approval". */
export function actionInWords(action: string): string {
  const words = named[action] ?? action.replaceAll(/[._]/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The reason of an entry. `ok` and `ALLOWED` add nothing to its verdict. */
export function reasonInWords(reason: string): string {
  if (reason === 'ok' || reason === 'ALLOWED') return '';
  const code = ReasonCode.safeParse(reason).data;
  return code === undefined ? reason : reasonSays(code);
}
