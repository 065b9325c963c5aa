import type { ReportedMember } from '@countersign/contracts';
import type { KnownMembers } from './known-members.ts';

/** More members than any of our requests has. The limit keeps reports small. */
const membersMax = 100;
/** The most values of a body that are read, so that reporting on a megabyte blocks no other work. */
const valuesMax = 2_000;

type ToldShape = { members: ReportedMember[]; unknownMembers: number; isCut: boolean };

/**
 * The known names in an attacker-controlled JSON value with types and sizes of their values, and the number of unknown
 * names.
 */
export function shapeOf(value: unknown, members: KnownMembers): ToldShape {
  const walk = new Walk();
  walk.tell('$', value, members);
  return { members: [...walk.members.values()], unknownMembers: walk.unknownMembers, isCut: walk.isCut };
}

class Walk {
  readonly members = new Map<string, ReportedMember>();
  unknownMembers = 0;
  isCut = false;
  #valuesSeen = 0;

  tell(path: string, value: unknown, members: KnownMembers): void {
    this.#valuesSeen += 1;
    if (this.#valuesSeen > valuesMax || !this.#note(path, value)) {
      this.isCut = true;
      return;
    }
    if (Array.isArray(value)) this.#tellItems(path, value, members.items());
    else if (typeof value === 'object' && value !== null) this.#tellMembers(path, value, members);
  }

  /** `false` when there is no room for another path. */
  #note(path: string, value: unknown): boolean {
    const type = typeOf(value);
    const noted = this.members.get(`${path} ${type}`);
    if (noted === undefined && this.members.size >= membersMax) return false;
    const size = sizeOf(value);
    const greatest = size === null ? null : Math.max(size, noted?.size ?? 0);
    this.members.set(`${path} ${type}`, { path, type, size: greatest });
    return true;
  }

  #tellItems(path: string, items: readonly unknown[], members: KnownMembers): void {
    for (const item of items) {
      if (this.#valuesSeen > valuesMax) return;
      this.tell(path === '$' ? '[]' : `${path}[]`, item, members);
    }
  }

  #tellMembers(path: string, members: object, contract: KnownMembers): void {
    for (const [name, value] of Object.entries(members)) {
      const knownMember = contract.member(name);
      if (knownMember === null) this.unknownMembers += 1;
      else this.tell(path === '$' ? name : `${path}.${name}`, value, knownMember);
    }
  }
}

function typeOf(value: unknown): ReportedMember['type'] {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  const type = typeof value;
  return type === 'string' || type === 'number' || type === 'boolean' ? type : 'object';
}

function sizeOf(value: unknown): number | null {
  if (typeof value === 'string' || Array.isArray(value)) return value.length;
  return typeof value === 'object' && value !== null ? Object.keys(value).length : null;
}
