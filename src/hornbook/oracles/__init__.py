"""Those who answer: teachers, models and the filters around them."""
