import { commercialMembers } from './commercial.mjs';
import { decisionMembers } from './decisions.mjs';
import { generalMembers } from './general.mjs';
import { operationMembers } from './operations.mjs';
import { proofMembers } from './proofs.mjs';
import { protocolMembers } from './protocols.mjs';

export { typeDescriptions } from './types.mjs';

const inSnakeCase = {
  ...generalMembers,
  ...decisionMembers,
  ...proofMembers,
  ...operationMembers,
  ...commercialMembers,
  ...protocolMembers,
};

/**
 * Descriptions of members by name, in snake case and in camel case, for members without a comment.
 * @type {Readonly<Record<string, string>>}
 */
export const commonMembers = Object.fromEntries(
  Object.entries(inSnakeCase).flatMap(([name, description]) => [
    [name, description],
    [name.replace(/_([a-z])/g, (_found, letter) => letter.toUpperCase()), description],
  ]),
);
