import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '@countersign/contracts';
import type { PermissionModel } from '@countersign/contracts/governance-kernel';
import { compilePermission, PolicyError, type Permission } from '@countersign/policy';

/** Each permission is compiled when it is first asked for: all of a model would take seconds. */
export class CompiledModel {
  /** The texts by the type of the entity, and the name of the permission. */
  readonly #texts: ReadonlyMap<string, ReadonlyMap<string, string>>;
  readonly #compiled = new Map<string, Permission>();

  constructor({ types }: PermissionModel) {
    this.#texts = new Map(
      Object.entries(types).map(([type, { permissions }]) => [type, new Map(Object.entries(permissions))]),
    );
  }

  /** The permissions on entities of the type, in the order of names. */
  namesOf(type: string): string[] {
    return [...(this.#texts.get(type)?.keys() ?? [])].sort();
  }

  /** Undefined where the model says nothing of it. Throws PolicyError for a text that does not compile. */
  find(type: string, name: string): Permission | undefined {
    const text = this.#texts.get(type)?.get(name);
    if (text === undefined) return undefined;
    const path = `/types/${type}/permissions/${name}`;
    const permission = this.#compiled.get(path) ?? compilePermission(text, path);
    this.#compiled.set(path, permission);
    return permission;
  }
}

/** Throws INVALID_REQUEST, naming the permission that does not compile. Each takes some milliseconds at most; others have their turn in between. */
export async function requireCompiles(stated: PermissionModel): Promise<void> {
  const model = new CompiledModel(stated);
  for (const type of Object.keys(stated.types))
    for (const name of model.namesOf(type)) {
      requirePermission(model, type, name);
      await nextTurn();
    }
}

function requirePermission(model: CompiledModel, type: string, name: string): void {
  try {
    model.find(type, name);
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    throw new AppError('INVALID_REQUEST', error.message, {
      param: error.path.slice(1).replaceAll('/', '.'),
      details: { code: error.code },
      cause: error,
    });
  }
}
