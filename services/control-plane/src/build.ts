/** What runs here. The image build replaces `commit`. */
export const build = { version: '0.1.0', commit: 'development' } as const;
