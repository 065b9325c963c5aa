import { monotonicFactory } from 'ulid';

const nextUlid = monotonicFactory();

/** A new prefixed, time-sortable id; ids made by one process rise strictly. */
export function newId(
  prefix:
    | 'usr'
    | 'wsp'
    | 'tsk'
    | 'run'
    | 'stp'
    | 'apr'
    | 'vio'
    | 'evd'
    | 'aud'
    | 'ses'
    | 'cod'
    | 'inv'
    | 'hpk'
    | 'sub'
    | 'ntf'
    | 'evt'
    | 'rpt'
    | 'rcp',
): string {
  return `${prefix}_${nextUlid()}`;
}
