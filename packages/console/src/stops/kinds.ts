import type { StopKind } from '@countersign/contracts/control-plane';
import type { Tone } from '../parts/mark.tsx';

type Words = { title: string; act: string; says: string; tone: Tone };

/** What each stop does, in words. None of them needs a proof of presence: stopping is never harder than going on. */
export const stopKinds: Readonly<Record<StopKind, Words>> = {
  freeze: {
    title: 'Freeze',
    act: 'Freeze it',
    says: 'No call of it is sent from a second after the kernel has confirmed, calls that wait for an approval included. What was sent before goes on, and is listed until it is settled.',
    tone: 'bad',
  },
  throttle: {
    title: 'Throttle',
    act: 'Throttle it',
    says: 'So many calls go through in each window; the others are denied. It ends by itself after an hour unless you say otherwise.',
    tone: 'wait',
  },
  quarantine: {
    title: 'Quarantine',
    act: 'Quarantine it',
    says: 'No call of it is sent, because it is not trusted. Everything else goes on.',
    tone: 'bad',
  },
};
