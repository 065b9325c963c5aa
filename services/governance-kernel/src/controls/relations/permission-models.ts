import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '@countersign/contracts';
import type { PermissionModel } from '@countersign/contracts/governance-kernel';
import { compilePermission, PolicyError, type Permission } from '@countersign/policy';

/** Each permission is compiled when it is first used, since compiling a whole model would take seconds. */
export class CompiledModel {
  /** The text of each permission, by the type of its entity and its name. */
  readonly #texts: ReadonlyMap<string, ReadonlyMap<string, string>>;
  readonly #compiled = new Map<string, Permission>();

  constructor({ types }: PermissionModel) {
    this.#texts = new Map(
      Object.entries(types).map(([type, { permissions }]) => [type, new Map(Object.entries(permissions))]),
    );
  }

  /** The permissions on entities of the type, sorted by name. */
  namesOf(type: string): string[] {
    return [...(this.#texts.get(type)?.keys() ?? [])].sort();
  }

  /**
   * `undefined` when the model does not define this permission. Throws PolicyError for a text that does not compile.
   */
  find(type: string, name: string): Permission | undefined {
    const text = this.#texts.get(type)?.get(name);
    if (text === undefined) return undefined;
    const path = `/types/${type}/permissions/${name}`;
    const permission = this.#compiled.get(path) ?? compilePermission(text, path);
    this.#compiled.set(path, permission);
    return permission;
  }
}

/**
 * Throws INVALID_REQUEST, whose `param` is the permission that does not compile. Other requests are served between the
 * permissions, which take at most a few milliseconds each.
 */
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
