import type { PolicyBundle, PolicyRule } from '@countersign/contracts/governance-kernel';
import { canonicalBytes, digestOf, parsePlainJson } from '@countersign/crypto';
import type { CryptoProvider } from '@countersign/crypto';
import { declaredTools, type DeclaredTools } from './declared-tools.ts';
import { compileExpression } from './expression.ts';
import { runPolicyTests } from './policy-tests.ts';
import { assertNamesFit, minimalReadSet } from './read-set.ts';
import { indexRules } from './rule-index.ts';
import type { CompiledRule, RuleIndex } from './rule-index.ts';

export type CompiledPolicy = {
  bundle: PolicyBundle;
  /** `sha256:<hex>` over the canonical JSON (RFC 8785) of the bundle with its defaults. */
  hash: string;
  /** Paths of the call that some rule may read, sorted: `action`, `args.amount`, `context.channel`. */
  readSet: readonly string[];
  rules: readonly CompiledRule[];
  byId: ReadonlyMap<string, CompiledRule>;
  index: RuleIndex;
  tools: DeclaredTools;
};

/**
 * Compiles a parsed bundle once: every expression is checked (names, types, loops, linear regular expressions), rules are
 * indexed, and the bundle's own tests run. Throws {@link PolicyError}; a bundle that fails one of its tests does not compile.
 */
export function compilePolicy(bundle: PolicyBundle, provider: CryptoProvider): CompiledPolicy {
  const rules = bundle.rules.map((rule, position): CompiledRule => {
    const when = rule.when === undefined ? null : compileExpression(rule.when, `/rules/${position}/when`);
    return { position, rule, when };
  });
  const policy: CompiledPolicy = {
    bundle,
    hash: digestOf(provider, canonicalBytes(parsePlainJson(withoutUndefined(bundle)))),
    readSet: minimalReadSet(rules.flatMap(readsOfRule)),
    rules,
    byId: new Map(rules.map((compiled) => [compiled.rule.id, compiled])),
    index: indexRules(rules),
    tools: declaredTools(bundle),
  };
  assertNamesFit(policy.readSet);
  runPolicyTests(policy);
  return policy;
}

function readsOfRule({ rule, when }: CompiledRule): string[] {
  return [...matchedMembers(rule.match), ...(when?.reads ?? [])];
}

function matchedMembers(match: PolicyRule['match']): string[] {
  return Object.entries<unknown>(match).flatMap(([member, globs]) => (globs === undefined ? [] : [member]));
}

// A bundle built in code may carry members that are undefined, which JSON has not.
function withoutUndefined(bundle: PolicyBundle): unknown {
  return JSON.parse(JSON.stringify(bundle));
}
