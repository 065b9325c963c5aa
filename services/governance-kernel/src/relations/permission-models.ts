import { AppError } from '@countersign/contracts';
import type { PermissionModel } from '@countersign/contracts/governance-kernel';
import { compilePermission, PolicyError, type Permission } from '@countersign/policy';

/** By the type of the entity, and the name of what may be done. */
export type CompiledModel = ReadonlyMap<string, ReadonlyMap<string, Permission>>;

/** Throws INVALID_REQUEST, naming the permission that does not compile. */
export function compileModel({ types }: PermissionModel): CompiledModel {
  try {
    return new Map(
      Object.entries(types).map(([type, { permissions }]) => [
        type,
        new Map(
          Object.entries(permissions).map(([name, text]) => [
            name,
            compilePermission(text, `/types/${type}/permissions/${name}`),
          ]),
        ),
      ]),
    );
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    throw new AppError('INVALID_REQUEST', error.message, {
      param: error.path.slice(1).replaceAll('/', '.'),
      details: { code: error.code },
      cause: error,
    });
  }
}
