import type { MakeMember } from './crew-main.js';
export const leaseholdMember: MakeMember = () => Promise.reject(new Error('not yet'));
