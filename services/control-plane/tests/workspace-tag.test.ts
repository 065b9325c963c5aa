import { describe, expect, it } from '@jest/globals';
import { parseWorkspaceTag, workspaceTag } from '../src/orgs/workspace-tag.ts';

const read = { etag: '"0123456789abcdef"', publicProof: 'off' } as const;
const refusal = (sent: string | undefined) => {
  try {
    return parseWorkspaceTag(sent);
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe('the tag of a workspace', () => {
  it("contains the gateway's tag and the setting, and is accepted without its quotes", () => {
    const tag = workspaceTag(read);
    expect(parseWorkspaceTag(tag)).toEqual(read);
    expect(parseWorkspaceTag(tag.replaceAll('"', ''))).toEqual(read);
  });

  it('is required, and malformed tags are refused', () => {
    expect([undefined, '*'].map(refusal)).toEqual(['PRECONDITION_REQUIRED', 'PRECONDITION_REQUIRED']);
    expect(['"0123456789abcdef"', 'W/"0123456789abcdef.off"', '"0123456789abcdef.ajar"'].map(refusal)).toEqual([
      'PRECONDITION_FAILED',
      'PRECONDITION_FAILED',
      'PRECONDITION_FAILED',
    ]);
  });
});
