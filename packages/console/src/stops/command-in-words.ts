import type { OpsCommand } from '@countersign/contracts/control-plane';

const kinds: Readonly<Record<OpsCommand['kind'], string>> = {
  freeze: 'Freeze',
  throttle: 'Throttle',
  quarantine: 'Quarantine',
  open: 'Resume',
};
const states: Readonly<Record<OpsCommand['state'], string>> = {
  effective: 'in force',
  unconfirmed: 'not confirmed',
  outdated: 'outdated',
};

/** A command with its state, such as `Freeze in force`. Only the kernel makes a command effective. */
export function commandInWords({ kind, state }: Pick<OpsCommand, 'kind' | 'state'>): string {
  return kind === 'open' && state === 'effective' ? 'Resumed' : `${kinds[kind]} ${states[state]}`;
}
