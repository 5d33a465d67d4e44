"""Why a model decides a row so: sufficient reasons, sampled or proved."""
