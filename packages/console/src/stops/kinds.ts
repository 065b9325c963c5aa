import type { StopKind } from '@countersign/contracts/control-plane';
import type { Tone } from '../parts/mark.tsx';

type Words = { title: string; act: string; says: string; tone: Tone };

/**
 * The effect of each stop in words. Stops need no proof of presence, because stopping must not be harder than going on.
 */
export const stopKinds: Readonly<Record<StopKind, Words>> = {
  freeze: {
    title: 'Freeze',
    act: 'Freeze it',
    says: 'Stops every call of the target, approved ones too, within a second. Calls already sent finish and are listed.',
    tone: 'bad',
  },
  throttle: {
    title: 'Throttle',
    act: 'Throttle it',
    says: 'Lets some calls a minute through and denies the rest, for 1 hour unless you choose longer.',
    tone: 'wait',
  },
  quarantine: {
    title: 'Quarantine',
    act: 'Quarantine it',
    says: 'Stops every call of the target because it is not trusted. Everything else continues.',
    tone: 'bad',
  },
};
