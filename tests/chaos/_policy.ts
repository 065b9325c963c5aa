/** The name of a note determines the verdict on the call that writes it. */
export const policy = `
format: countersign/policy.v1
name: chaos
version: '1'
rules:
  - { id: deny, effect: deny, match: { tool: [notes.write_note] }, when: 'args.id.startsWith("deny-")', reason: No such note is written. }
  - id: ask
    effect: escalate
    match: { tool: [notes.write_note] }
    when: args.id.startsWith("ask-")
    reason: A person decides about this note.
    approval: { quorum: 1, timeout: 900, scope: once }
  - { id: models, effect: allow, match: { action: [model.call] }, reason: A model says what it says. }
  - { id: work, effect: allow, match: { effect_level: [E1, E2] }, reason: Work. }
tests:
  - name: a note is written
    intent: { action: tool.call, tool: notes.write_note, args: { id: a }, effect_level: E2 }
    expect: { verdict: ALLOW, rule: work }
`;
