import type { ConnectorInstall } from '@countersign/contracts/control-plane';
import type { Tone } from '../parts/mark.tsx';
import { serverStates } from '../tools/server-states.ts';
import type { ConnectorRow } from './use-connectors.ts';

type ShownState = { word: string; tone: Tone; meaning: string };

/** Whether the install counts towards the plan and has a server at the kernel. */
export function isEnabled(install: ConnectorInstall | null): install is ConnectorInstall {
  return install !== null && install.disabled_at === null;
}

export function isAsApproved({ state, drift }: ConnectorInstall): boolean {
  return state === 'approved' && drift.every(({ status }) => status === 'in_sync');
}

/** The version of the catalogue, when another version is installed. */
export function newerVersionOf({ entry, install }: ConnectorRow): string | null {
  return entry !== null && isEnabled(install) && entry.version !== install.version ? entry.version : null;
}

/** The state of a connector in words. States that need action come before the ones that do not. */
export function stateOf(row: ConnectorRow): ShownState {
  const { entry, install } = row;
  if (install === null)
    return entry !== null && entry.install_id !== null
      ? { word: 'Unknown', tone: 'wait', meaning: 'It is installed, and its state could not be read.' }
      : { word: 'Not installed', tone: 'plain', meaning: 'Agents cannot call it.' };
  if (install.disabled_at !== null)
    return { word: 'Disabled', tone: 'plain', meaning: 'Every call of its tools is denied.' };
  if (install.state === 'unregistered')
    return {
      ...{ word: 'Not confirmed', tone: 'bad' },
      meaning: 'The kernel has no server of this connector. Install it again, or disable it.',
    };
  const changed = install.drift.filter(({ status }) => status !== 'in_sync').length;
  if (install.state === 'approved' && changed > 0)
    return {
      ...{ word: changed === 1 ? '1 tool changed' : `${changed} tools changed`, tone: 'bad' },
      meaning: 'Calls of changed tools are denied until the change is approved.',
    };
  if (newerVersionOf(row) !== null)
    return { word: 'Update available', tone: 'wait', meaning: 'The catalogue has another version.' };
  if (install.state === 'approved') return { word: 'Installed', tone: 'good', meaning: serverStates.approved.meaning };
  const { word, tone, meaning } = serverStates[install.state];
  return { word, tone, meaning };
}
