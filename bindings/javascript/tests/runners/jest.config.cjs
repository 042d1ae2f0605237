module.exports = { testMatch: ["**/*.jest.cjs"], setupFilesAfterEnv: ["averment/jest"], transform: {} };
