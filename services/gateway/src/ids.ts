import { monotonicFactory } from 'ulid';

const nextUlid = monotonicFactory();

/** A new time-sortable id with a prefix. Ids of one process increase strictly. */
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
